import ArgumentParser
import Foundation

/// `apus bench socketio`: events to a Socket.IO server.
struct BenchSocketIOCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "socketio", abstract: "Events to a Socket.IO server: echoed, acknowledged or broadcast.",
        discussion: """
            The server has to answer the event `echo` with an event `echo`; with --ack to acknowledge the event `ack`; with --broadcast to send an \
            event `bc` to everybody when one comes. `apus bench server` does; --event names another event.
            """)

    @Argument(help: "The server: http://host:port, or https, ws, wss.") var url: String

    @Option(help: "The path of the Socket.IO server.") var path = "/socket.io/"

    @Option(help: "The namespace to join.") var namespace = "/"

    @Option(help: "Spread the connections over so many namespaces, /bench-0 and so on (`apus bench server` has them).") var namespaces = 0

    @Option(help: "Send to a room of one's own, of so many; the server has to know the events `join` and `room`.") var rooms: Int?

    @Option(help: "What to show the server on joining: a JSON object.") var auth = ""

    @Flag(help: "Ask for an ack of every event.") var ack = false

    @Flag(help: "One connection sends, all get what it sends; the deliveries are counted.") var broadcast = false

    @Option(help: "The event. Default: echo, with --ack ack, with --broadcast bc.") var event: String?

    @Flag(help: "HTTP long-polling, not WebSocket.") var polling = false

    @OptionGroup var load: BenchLoadOptions

    func validate() throws {
        guard [self.ack, self.broadcast, self.rooms != nil].filter({ $0 }).count < 2 else {
            throw ValidationError("give one of --ack, --broadcast and --rooms")
        }
        guard (0...100_000).contains(self.namespaces), (1...10_000_000).contains(self.rooms ?? 1) else {
            throw ValidationError("--namespaces must be from 0 to 100000, --rooms from 1 to 10000000")
        }
        guard !self.broadcast || self.load.threads == 1 else {
            throw ValidationError("--broadcast counts on one event loop: leave --threads out")
        }
        guard self.path.hasPrefix("/"), self.path.hasSuffix("/") else { throw ValidationError("--path begins and ends with a slash") }
        guard self.namespace.hasPrefix("/"), !self.namespace.contains(",") else {
            throw ValidationError("--namespace starts with a slash and holds no comma")
        }
        guard self.url.contains("://") else { throw ValidationError("\(self.url) is not a URL; did you mean http://\(self.url)?") }
        guard !(self.event ?? "").contains(where: { $0 == "\"" || $0 == "\\" || $0.isNewline }) else {
            throw ValidationError("--event holds no quotes")
        }
    }

    func run() async throws {
        let exchange: BenchPlan.Exchange =
            if let rooms { .room(of: rooms) } else if self.ack { .acknowledged(self.event ?? "ack") } else if self.broadcast {
                .broadcast(self.event ?? "bc")
            } else { .event(self.event ?? "echo") }
        var plan = try self.load.plan(url: self.requestURL, exchange: exchange)
        plan.polling = self.polling
        plan.namespace = self.namespace
        plan.namespaces = self.namespaces
        plan.auth = self.auth
        try await self.load.run(plan)
    }

    /// As the JavaScript client: what stands behind the host is no path.
    private var requestURL: String {
        guard let scheme = self.url.range(of: "://") else { return self.url }
        let origin = self.url[..<(self.url[scheme.upperBound...].firstIndex(of: "/") ?? self.url.endIndex)]
        return "\(origin)\(self.path)?EIO=4&transport=\(self.polling ? "polling" : "websocket")"
    }
}
