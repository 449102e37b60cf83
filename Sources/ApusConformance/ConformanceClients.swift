import ApusConnectivity
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ArgumentParser
import Foundation
import NIOConcurrencyHelpers

/// Runs many Apus clients in one process while the server is restarted
/// (`Conformance/support/clients.py`, `Benchmarks/restart`).
///
/// Each client sends `record` with its own text and sends it again until it is acknowledged. The
/// command prints lines of JSON: the number of connected clients, the times at which the first
/// connection is lost and all clients have reconnected, and the number of acknowledged texts. The
/// command ends after the end of its input, when the last attempt of each client has been
/// acknowledged or has failed.
struct ConformanceClients: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients", abstract: "Run many clients while the server is restarted.")

    @Argument(help: "The URL of the server.") var url: String

    @Option(help: "The number of clients.") var clients = 200

    @Option(help: "polling, websocket or upgrade.") var transport = InteropTransport.webSocket

    @Option(help: "The time between a client's ack and its next message, in milliseconds.") var pause = 1000

    @Option(help: "The file for the acknowledged texts, one on each line, written at the end.") var acked: String

    func run() async throws {
        let isStopping = NIOLockedValueBox(false)
        let counter = ConnectionCounter()
        let configuration = SocketIOManagerConfiguration(transports: self.transport.transports)
        let members = (0..<self.clients).map { number in
            ConformanceClientSession(
                number: number, manager: SocketIOManager(url: self.url, configuration: configuration), counter: counter)
        }
        try await Self.connect(members)
        ConformanceClient.say(["connected": .integer(Int64(members.count))])
        // Reads on a separate thread, because reading blocks. The thread ends with the process.
        Thread.detachNewThread {
            while readLine() != nil {}
            isStopping.withLockedValue { $0 = true }
        }
        let pause = Duration.milliseconds(self.pause)
        let texts = await withTaskGroup(of: [String].self) { group in
            for member in members { group.addTask { await member.send(pausing: pause) { isStopping.withLockedValue { $0 } } } }
            var all: [String] = []
            for await texts in group { all += texts }
            return all
        }
        try Data(texts.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: self.acked))
        for member in members { member.manager.disconnect() }
        ConformanceClient.say(["acknowledged": .integer(Int64(texts.count))])
    }

    /// Connects the clients, at most 100 at a time.
    private static func connect(_ members: [ConformanceClientSession]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, member) in members.enumerated() {
                if index >= 100 { try await group.next() }
                group.addTask { try await member.connect() }
            }
            try await group.waitForAll()
        }
    }
}

/// Counts lost connections and reconnections. Prints the times at which the first connection is
/// lost and all clients have reconnected.
private final class ConnectionCounter: Sendable {
    private let state = NIOLockedValueBox((losses: 0, reconnections: 0))

    func lost() {
        let isFirst = self.state.withLockedValue { state in
            state.losses += 1
            return state.losses == state.reconnections + 1
        }
        if isFirst { ConformanceClient.say(["lost": 1, "at": .double(Date().timeIntervalSince1970)]) }
    }

    func reconnected() {
        let state = self.state.withLockedValue { state in
            state.reconnections += 1
            return state
        }
        guard state.reconnections == state.losses else { return }
        // Other clients may not have detected their loss yet, so the reader of the output compares
        // the number.
        ConformanceClient.say(["back": .integer(Int64(state.reconnections)), "at": .double(Date().timeIntervalSince1970)])
    }
}

private struct ConformanceClientSession: Sendable {
    let number: Int
    let manager: SocketIOManager
    let counter: ConnectionCounter

    func connect() async throws {
        try await self.manager.defaultSocket.connect(timeout: .seconds(60))
        self.manager.defaultSocket.onLifecycle { [counter = self.counter] event in
            switch event {
            case .disconnect(let reason): if reason != .clientDisconnect { counter.lost() }
            case .reconnect: counter.reconnected()
            default: break
            }
        }
    }

    /// Sends texts until `isStopping` returns `true`.
    /// - Returns: The acknowledged texts.
    func send(pausing pause: Duration, until isStopping: () -> Bool) async -> [String] {
        var acknowledged: [String] = []
        // Distributes the clients over the pause.
        try? await Task.sleep(for: pause * Double.random(in: 0...1))
        while !isStopping() {
            let text = "\(self.number)-\(acknowledged.count)"
            repeat {
                let answer = try? await self.manager.defaultSocket.emitWithAck("record", text, timeout: .seconds(10), as: String.self)
                if answer == text {
                    acknowledged.append(text)
                    break
                }
                // The connection was lost, or the send buffer is full during the reconnection.
                try? await Task.sleep(for: .milliseconds(50))
            } while !isStopping()
            try? await Task.sleep(for: pause)
        }
        return acknowledged
    }
}
