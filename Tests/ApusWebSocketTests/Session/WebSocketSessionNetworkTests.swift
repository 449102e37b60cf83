import ApusConnectivity
import ApusEventLoop
@testable import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct WebSocketSessionNetworkTests {
    private func path(_ isSatisfied: Bool, _ fingerprint: String) -> NetworkPath {
        NetworkPath(isSatisfied: isSatisfied, hasDefaultRoute: isSatisfied, fingerprint: fingerprint)
    }

    private final class Source: NetworkPathMonitor.Source {
        let isStopped = NIOLockedValueBox(false)
        func stop() { self.isStopped.withLockedValue { $0 = true } }
    }

    /// 0.0.0.0 connects to 127.0.0.1, but the session treats it as another machine.
    @Test func attemptsPauseAndAreMadeAtOnce() async throws {
        let reports = NIOLockedValueBox<(@Sendable (NetworkPath) -> Void)?>(nil)
        let source = Source()
        let monitor = NetworkPathMonitor { report in
            reports.withLockedValue { $0 = report }
            return source
        }
        try await ScriptedServer.with { _, _ in
            .upgrade { $0.post("hello") }
        } _: { server in
            var configuration = WebSocketSessionConfiguration()
            configuration.reconnection = .fixed(.seconds(3600))
            configuration.networkMonitor = monitor
            let session = WebSocketSession("ws://0.0.0.0:\(server.port)/", configuration: configuration)
            let states = session.states(bufferingPolicy: .unbounded)
            try await session.connect()
            let report = try #require(reports.withLockedValue { $0 })
            report(self.path(true, "a"))
            report(self.path(false, ""))
            server.hangUp()
            for await state in states where state == .waitingToReconnect { break }
            report(self.path(true, "b"))
            try await session.connect()
            // The connection is lost while there is a network. A change of the network ends the
            // wait of one hour.
            server.hangUp()
            for await state in session.states(bufferingPolicy: .unbounded) where state == .waitingToReconnect { break }
            report(self.path(true, "c"))
            try await session.connect()
            #expect(server.requests.count == 3)
            await session.close()
            #expect(source.isStopped.withLockedValue { $0 })
        }
    }

    @Test func aRestartForgetsTheLackOfANetwork() async throws {
        let reports = NIOLockedValueBox<(@Sendable (NetworkPath) -> Void)?>(nil)
        let monitor = NetworkPathMonitor { report in
            reports.withLockedValue { $0 = report }
            return Source()
        }
        try await ScriptedServer.with { _, _ in
            .upgrade { $0.post("hello") }
        } _: { server in
            var configuration = WebSocketSessionConfiguration()
            configuration.networkMonitor = monitor
            let session = WebSocketSession("ws://0.0.0.0:\(server.port)/", configuration: configuration)
            try await session.connect()
            let report = try #require(reports.withLockedValue { $0 })
            report(self.path(false, ""))
            await session.close()
            try await session.connect(timeout: .seconds(60))
            #expect(session.state == .open)
            await session.close()
        }
    }
}
