import ApusEngineIOProtocol
import ApusSocketIOServer
import ApusTesting
import ApusWebSocket
import NIOCore
import Testing

@testable import ApusBench

/// Short loads on the servers of this project: every exchange is answered, and the totals are
/// consistent.
struct BenchRunTests {
    private static func plan(_ exchange: BenchPlan.Exchange) -> BenchPlan {
        var plan = BenchPlan(url: "", exchange: exchange)
        plan.connections = 4
        plan.inFlight = 3
        plan.warmUp = .milliseconds(50)
        plan.duration = .milliseconds(200)
        return plan
    }

    private static func run(_ plan: BenchPlan) async throws -> BenchReport {
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let listening: @Sendable (SocketAddress) -> Void = { found.yield($0.port ?? 0) }
                if plan.isSocketIO {
                    try await BenchServer.socketIO(maximumMessageBytes: 1 << 20).run(host: "127.0.0.1", port: 0, onListening: listening)
                } else {
                    try await BenchServer.webSocket(maximumMessageBytes: 1 << 20).run(host: "127.0.0.1", port: 0, onListening: listening)
                }
            }
            defer { group.cancelAll() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            var plan = plan
            let query = plan.isSocketIO ? "socket.io/?EIO=4&transport=\(plan.polling ? "polling" : "websocket")" : ""
            plan.url = "ws://127.0.0.1:\(port)/\(query)"
            return try await BenchRun(plan: plan, progress: { _ in }).run()
        }
    }

    /// Runs the load. Repeats it with a longer duration if a busy machine has missed the window.
    @discardableResult private static func expectGood(_ plan: BenchPlan) async throws -> BenchReport {
        var plan = plan
        var report = try await Self.run(plan)
        for _ in 0..<5 where report.messages == 0 {
            plan.duration *= 2
            report = try await Self.run(plan)
        }
        #expect(report.messages > 0)
        #expect(report.setUp.opened == 4)
        #expect(report.setUp.failed == 0)
        #expect(report.lost == 0)
        #expect(report.unanswered == 0)
        #expect(report.latency != nil)
        return report
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            BenchPlan.Exchange.webSocket, .event("echo"), .acknowledged("ack"), .broadcast("bc"),
        ], [false, true])
    func everyExchangeIsAnswered(exchange: BenchPlan.Exchange, binary: Bool) async throws {
        var plan = Self.plan(exchange)
        plan.binary = binary
        plan.size = 300
        try await Self.expectGood(plan)
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            BenchPlan.Exchange.event("echo"), .acknowledged("ack"), .broadcast("bc"),
        ], [false, true])
    func pollingToo(exchange: BenchPlan.Exchange, binary: Bool) async throws {
        var plan = Self.plan(exchange)
        plan.binary = binary
        plan.polling = true
        try await Self.expectGood(plan)
    }

    @Test(.timeLimit(.minutes(5))) func twoLoopsShareTheConnections() async throws {
        var plan = Self.plan(.webSocket)
        plan.threads = 2
        plan.size = 100_000
        try await Self.expectGood(plan)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [BenchPlan.Exchange.room(of: 10), .event("echo"), .acknowledged("ack")])
    func roomsAndNamespacesToo(exchange: BenchPlan.Exchange) async throws {
        var plan = Self.plan(exchange)
        if case .room = exchange {} else { plan.namespaces = 3 }
        try await Self.expectGood(plan)
    }

    @Test(.timeLimit(.minutes(5))) func theRateIsAchieved() async throws {
        var plan = Self.plan(.acknowledged("ack"))
        plan.rate = 500
        plan.inFlight = 1000
        let report = try await Self.expectGood(plan)
        // The messages scheduled in the measured time, independent of its actual length.
        #expect(abs(Double(report.messages) - 500 * report.seconds) <= 3)
        #expect(report.correctsOmission)
    }

    @Test(.timeLimit(.minutes(5))) func idleConnectionsAreKept() async throws {
        var plan = Self.plan(.event("echo"))
        plan.inFlight = 0
        let report = try await Self.run(plan)
        #expect(report.messages == 0)
        #expect(report.setUp.opened == 4)
        #expect(report.lost == 0)
    }

    @Test func aMissingServerIsAnError() async throws {
        let unused = try UnusedPort()
        var plan = Self.plan(.webSocket)
        plan.url = "ws://127.0.0.1:\(unused.number)/"
        await #expect(throws: BenchError.self) { try await BenchRun(plan: plan, progress: { _ in }).run() }
    }
}
