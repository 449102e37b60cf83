import ApusJSON
import ApusSocketIOProtocol
import Dispatch
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import ApusSocketIOServer

/// A transport that counts calls of `opened` and `closed` out of order.
private final class TurnTransport: SocketIOClusterTransport {
    private let state = NIOLockedValueBox<(isOpen: Bool, faults: Int)>((false, 0))

    var isOpen: Bool { self.state.withLockedValue { $0.isOpen } }
    var faults: Int { self.state.withLockedValue { $0.faults } }

    func opened(namespace: String) { self.change(to: true) }
    func closed(namespace: String) { self.change(to: false) }

    private func change(to isOpen: Bool) {
        self.state.withLockedValue { state in
            if state.isOpen == isOpen { state.faults += 1 }
            state.isOpen = isOpen
        }
    }

    func start(_ receiver: any SocketIOClusterReceiver) {}
    func stop() {}
    func publish(_ message: SocketIOClusterMessage) {}
    func respond(_ response: SocketIOClusterResponse, to node: SocketIONodeID) {}
}

@Suite struct SocketIONamespaceTableTests {
    /// Clients join and leave on all threads. The removal of a namespace must not unsubscribe its
    /// successor.
    @Test func aNamespaceOpensWhenTheOneBeforeItIsClosed() {
        let transport = TurnTransport()
        var configuration = SocketIOServerConfiguration()
        configuration.cluster = transport
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        _ = server.namespaces { _, _ in true }
        DispatchQueue.concurrentPerform(iterations: 4_000) { _ in
            server.admit(to: "/d", auth: [:])?.release()
        }
        #expect(transport.faults == 0)
        #expect(!transport.isOpen)
        #expect(server.existingNamespace("/d") == nil)
    }
}
