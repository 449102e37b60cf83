import ApusConnectivity
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ArgumentParser
import Foundation
import NIOConcurrencyHelpers

/// Many of our clients in one process, which stay connected while the server is restarted (`Conformance/support/clients.py`, `Benchmarks/restart`).
///
/// Each sends `record` with a text of its own, waits for the ack, and sends the same text again until it has it. Prints lines of JSON: how
/// many are connected, when all are back after a loss. Ends when its input does, after the texts on their way have their ack.
struct ConformanceClients: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients", abstract: "Many clients that stay connected across a restart of the server.")

    @Argument(help: "The server.") var url: String

    @Option(help: "How many clients.") var clients = 200

    @Option(help: "polling, websocket or upgrade.") var transport = InteropTransport.websocket

    @Option(help: "Milliseconds between a client's ack and its next text.") var pause = 1000

    @Option(help: "The file for the acknowledged texts, one a line, written at the end.") var acked: String

    func run() async throws {
        let isStopping = NIOLockedValueBox(false)
        let census = ConnectedClients()
        let configuration = SocketManagerConfiguration(transports: self.transport.transports)
        let members = (0..<self.clients).map { number in
            ConformanceClientSession(number: number, manager: SocketManager(url: self.url, configuration: configuration), census: census)
        }
        try await Self.connect(members)
        ConformanceClient.say(["connected": .integer(Int64(members.count))])
        // A thread of its own: reading blocks. It ends with the process.
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

    /// A hundred at a time: this is no flood.
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

/// Who is away at the moment.
private final class ConnectedClients: Sendable {
    private let state = NIOLockedValueBox((losses: 0, returns: 0))

    func lost() {
        let isFirst = self.state.withLockedValue { state in
            state.losses += 1
            return state.losses == state.returns + 1
        }
        if isFirst { ConformanceClient.say(["lost": 1, "at": .double(Date().timeIntervalSince1970)]) }
    }

    func returned() {
        let state = self.state.withLockedValue { state in
            state.returns += 1
            return state
        }
        guard state.returns == state.losses else { return }
        // It may be that others have not noticed yet; the total tells.
        ConformanceClient.say(["back": .integer(Int64(state.returns)), "at": .double(Date().timeIntervalSince1970)])
    }
}

private struct ConformanceClientSession: Sendable {
    let number: Int
    let manager: SocketManager
    let census: ConnectedClients

    func connect() async throws {
        try await self.manager.defaultSocket.connect(timeout: .seconds(60))
        self.manager.defaultSocket.onLifecycle { [census = self.census] event in
            switch event {
            case .disconnect(let reason): if reason != .clientDisconnect { census.lost() }
            case .reconnect: census.returned()
            default: break
            }
        }
    }

    /// Answers the texts that were acknowledged.
    func send(pausing pause: Duration, until isStopping: () -> Bool) async -> [String] {
        var acknowledged: [String] = []
        // Not all in the same instant.
        try? await Task.sleep(for: pause * Double.random(in: 0...1))
        while !isStopping() {
            let text = "\(self.number)-\(acknowledged.count)"
            repeat {
                let answer = try? await self.manager.defaultSocket.emitWithAck("record", text, timeout: .seconds(10), as: String.self)
                if answer == text {
                    acknowledged.append(text)
                    break
                }
                // Lost with its connection, or the buffer of a client that waits for one.
                try? await Task.sleep(for: .milliseconds(50))
            } while !isStopping()
            try? await Task.sleep(for: pause)
        }
        return acknowledged
    }
}
