import ApusObservability
import ApusSocketIOServer
import ApusTesting
import Foundation
import Logging
import Metrics
import MetricsTestKit
import Testing

@Suite("Observability: metrics") struct SocketIOServerMetricsTests {
    private struct Failure: Error {}

    private let metrics = TestMetrics()

    private func server(prefix: String = "socketio_server") -> SocketIOServer {
        var configuration = SocketIOServerConfiguration()
        configuration.observers = [SocketIOServerMetrics(factory: self.metrics, prefix: prefix)]
        configuration.onHandlerError = { _, _, _ in }
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        server.namespace("/").onConnection { socket in
            socket.on("add") { (a: Int, b: Int) in a + b }
            socket.on("fail") { () throws in throw Failure() }
        }
        return server
    }

    private func count(_ label: String, _ dimensions: [(String, String)] = []) throws -> Int64 {
        try self.metrics.expectCounter(label, dimensions).values.reduce(0, +)
    }

    @Test func aSocketIsCountedFromItsJoinToItsLeave() throws {
        let server = self.server()
        let (one, two) = (try PollingSocket(server), try PollingSocket(server))
        #expect(try self.metrics.expectMeter("socketio_server_sockets").values.last == 2)
        try one.post("41")
        try two.post("1")
        #expect(try self.count("socketio_server_connections_total") == 2)
        #expect(try self.metrics.expectMeter("socketio_server_sockets").values.last == 0)
        for reason in ["client namespace disconnect", "transport close"] {
            #expect(try self.count("socketio_server_disconnections_total", [("reason", reason)]) == 1)
        }
    }

    @Test func eventsAndHandlersAreCounted() throws {
        let server = self.server()
        let (one, two) = (try PollingSocket(server), try PollingSocket(server))
        try one.post(#"421["add",1,2]"#)
        try one.post(#"42["fail"]"#)
        try one.post(#"42["unknown"]"#)
        server.namespace("/").emit("all")
        for socket in [one, two] { socket.http.pass(.milliseconds(1)) }
        #expect(try self.count("socketio_server_events_received_total") == 3)
        #expect(try self.count("socketio_server_events_sent_total") == 2)
        #expect(try self.count("socketio_server_handler_errors_total") == 1)
        let durations = try self.metrics.expectTimer("socketio_server_handler_seconds").values
        #expect(durations.count == 2 && durations.allSatisfy { $0 >= 0 }, "the unknown event has no handler")
        let socket = try #require(server.namespace("/").sockets.first)
        socket.emitWithAck("question", arguments: [], timeout: .seconds(1)) { _ in }
        for _ in 1...2 { for socket in [one, two] { socket.http.pass(.seconds(1)) } }
        for (outcome, count) in [("answered", 0), ("timed out", 1), ("disconnected", 0), ("cancelled", 0)] {
            let waits = try self.metrics.expectTimer("socketio_server_ack_seconds", [("outcome", outcome)])
            #expect(waits.values == Array(repeating: 1_000_000_000, count: count))
        }
    }

    @Test func thePageListsTheMetricsOfTheCode() throws {
        let socket = try PollingSocket(self.server())
        try socket.post("41")
        let recorded = [
            self.metrics.recorders.map(\.label), self.metrics.counters.map(\.label), self.metrics.meters.map(\.label),
            self.metrics.timers.map(\.label),
        ]
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/metrics.md").standardized
        let rows = try String(contentsOf: file, encoding: .utf8).matches(of: /\| `(socketio_server_\w+)` \|/).map { String($0.1) }
        // A metric with a label has a recorder for each value of the label.
        #expect(rows.sorted() == Set(recorded.joined()).sorted())
    }

    @Test func twoServersHaveMetricsOfTheirOwn() throws {
        let (game, chat) = (self.server(prefix: "game"), self.server(prefix: "chat"))
        let sockets = [try PollingSocket(game), try PollingSocket(game), try PollingSocket(chat)]
        #expect(try self.count("game_connections_total") == 2)
        #expect(try self.count("chat_connections_total") == 1)
        withExtendedLifetime(sockets) {}
    }
}
