import ArgumentParser
import Foundation

/// `apus bench socketio`: measures a Socket.IO server.
struct BenchSocketIOCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "socketio", abstract: "Measure a Socket.IO server with events that it echoes, acknowledges or broadcasts.",
        discussion: """
            The server must answer the event `echo` with an event `echo`; with --ack, it must acknowledge the event `ack`; with \
            --broadcast, it must answer the event `bc` with an event `bc` to all clients. `apus bench server` does all of this. \
            --event selects another event name.
            """)

    @Argument(help: "The server: http://host:port, or https, ws, wss.") var url: String

    @Option(help: "The path of the Socket.IO server.") var path = "/socket.io/"

    @Option(help: "The namespace to join.") var namespace = "/"

    @Option(help: "Spread the connections over this number of namespaces: /bench-0, /bench-1 and so on.") var namespaces = 0

    @Option(help: "Give each connection a share of this number of rooms, and send to one; the server must handle `join` and `room`.")
    var rooms: Int?

    @Option(help: "The auth payload to send on joining: a JSON object.") var auth = ""

    @Flag(help: "Request an ack for every event.") var ack = false

    @Flag(help: "Send from one connection to all, and count the deliveries.") var broadcast = false

    @Option(help: "The event name. Default: echo; with --ack ack; with --broadcast bc.") var event: String?

    @Flag(help: "Use HTTP long-polling instead of WebSocket.") var polling = false

    @OptionGroup var load: BenchLoadOptions

    func validate() throws {
        guard [self.ack, self.broadcast, self.rooms != nil].filter({ $0 }).count < 2 else {
            throw ValidationError("use only one of --ack, --broadcast and --rooms")
        }
        try ValidationError.check("--namespaces", self.namespaces, in: 0...100_000)
        try ValidationError.check("--rooms", self.rooms ?? 1, in: 1...10_000_000)
        guard !self.broadcast || self.load.threads == 1 else {
            throw ValidationError("--broadcast requires one event loop: omit --threads")
        }
        guard self.path.hasPrefix("/"), self.path.hasSuffix("/") else { throw ValidationError("--path must begin and end with a slash") }
        guard self.namespace.hasPrefix("/"), !self.namespace.contains(",") else {
            throw ValidationError("--namespace must begin with a slash and must not contain a comma")
        }
        guard self.url.contains("://") else { throw ValidationError("\(self.url) is not a URL; for example, use http://\(self.url)") }
        guard !(self.event ?? "").contains(where: { $0 == "\"" || $0 == "\\" || $0.isNewline }) else {
            throw ValidationError("--event must not contain a quotation mark, a backslash or a line break")
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

    /// The URL of the first request. The path of the given URL is ignored: `--path` and
    /// `--namespace` take its place.
    private var requestURL: String {
        guard let scheme = self.url.range(of: "://") else { return self.url }
        let origin = self.url[..<(self.url[scheme.upperBound...].firstIndex(of: "/") ?? self.url.endIndex)]
        return "\(origin)\(self.path)?EIO=4&transport=\(self.polling ? "polling" : "websocket")"
    }
}
