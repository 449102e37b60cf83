import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import NIOConcurrencyHelpers
import Testing

@testable import ApusSocketIOClient

@Suite(.timeLimit(.minutes(5))) struct SocketNetworkTests {
    private final class Source: NetworkPathMonitor.Source {
        let isStopped = NIOLockedValueBox(false)
        func stop() { self.isStopped.withLockedValue { $0 = true } }
    }

    private func path(_ isSatisfied: Bool, _ fingerprint: String) -> NetworkPath {
        NetworkPath(isSatisfied: isSatisfied, hasDefaultRoute: isSatisfied, fingerprint: fingerprint)
    }

    /// A client that gave up without a network checks the network again on the next connect.
    @Test func givingUpWithoutANetworkIsNotRemembered() async throws {
        let reports = NIOLockedValueBox<(@Sendable (NetworkPath) -> Void)?>(nil)
        let monitor = NetworkPathMonitor { report in
            reports.withLockedValue { $0 = report }
            return Source()
        }
        try await ScriptedServer.run { server in
            let url = server.url.replacing("127.0.0.1", with: "0.0.0.0")
            var configuration = SocketIOManagerConfiguration(transports: [.webSocket], reconnection: .none)
            configuration.networkMonitor = monitor
            let manager = SocketIOManager(url: url, configuration: configuration)
            let socket = manager.defaultSocket
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            socket.open()
            var peer = try await server.nextPeer()
            await peer.letIn()
            let report = try #require(reports.withLockedValue { $0 })
            report(self.path(false, ""))
            peer.hangUp()
            _ = await lifecycle.first { $0.kind == .reconnectFailed }
            socket.open()
            peer = try await server.nextPeer()
            await peer.letIn()
            _ = await lifecycle.first { $0.kind == .connect }
            await manager.close()
        }
    }

    @Test func attemptsWaitForANetworkAndAreMadeAtOnce() async throws {
        let reports = NIOLockedValueBox<(@Sendable (NetworkPath) -> Void)?>(nil)
        let source = Source()
        let monitor = NetworkPathMonitor { report in
            reports.withLockedValue { $0 = report }
            return source
        }
        try await ScriptedServer.run { server in
            // Connecting to 0.0.0.0 reaches 127.0.0.1, but the client treats it as another machine.
            let url = server.url.replacing("127.0.0.1", with: "0.0.0.0")
            var configuration = SocketIOManagerConfiguration(transports: [.webSocket], reconnection: .fixed(.seconds(3600)))
            configuration.networkMonitor = monitor
            let manager = SocketIOManager(url: url, configuration: configuration)
            let socket = manager.defaultSocket
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            socket.open()
            var peer = try await server.nextPeer()
            await peer.letIn()
            let report = try #require(reports.withLockedValue { $0 })
            report(self.path(true, "a"))
            report(self.path(false, ""))
            peer.hangUp()
            _ = await lifecycle.first { $0.kind == .disconnect }
            report(self.path(true, "b"))
            peer = try await server.nextPeer()
            await peer.letIn()
            _ = await lifecycle.first { $0.kind == .reconnect }
            // The connection is lost while a network is available. A change of the network ends the
            // wait of one hour.
            peer.hangUp()
            _ = await lifecycle.first { $0.kind == .disconnect }
            report(self.path(true, "c"))
            peer = try await server.nextPeer()
            await peer.letIn()
            _ = await lifecycle.first { $0.kind == .reconnect }
            await manager.close()
            #expect(source.isStopped.withLockedValue { $0 })
        }
    }
}
