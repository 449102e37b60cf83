import ApusSocketIOProtocol
import ApusSocketIOServer
import NIOConcurrencyHelpers

/// A transport without answers: it reports other servers and records the messages to them.
final class HungTransport: SocketIOClusterTransport {
    private let servers: SocketIOClusterServers?
    private let state = NIOLockedValueBox<(receiver: (any SocketIOClusterReceiver)?, sent: [SocketIOClusterMessage])>((nil, []))

    /// - Parameter servers: The reported servers; `nil` reports none.
    init(servers: SocketIOClusterServers? = nil) {
        self.servers = servers
    }

    var sent: [SocketIOClusterMessage] { self.state.withLockedValue { $0.sent } }
    var receiver: (any SocketIOClusterReceiver)? { self.state.withLockedValue { $0.receiver } }
    /// The request id of the last message that has one.
    var lastRequest: String? {
        for message in self.sent.reversed() {
            switch message.content {
            case .broadcast(_, _, _, _, let request?), .fetchSockets(_, let request), .serverSideEmit(_, _, let request?): return request
            default: continue
            }
        }
        return nil
    }

    func start(_ receiver: any SocketIOClusterReceiver) { self.state.withLockedValue { $0.receiver = receiver } }
    func stop() { self.state.withLockedValue { $0.receiver = nil } }
    func publish(_ message: SocketIOClusterMessage) { self.state.withLockedValue { $0.sent.append(message) } }
    func respond(_ response: SocketIOClusterResponse, to node: SocketIONodeID) {}
    func servers(in namespace: String, report: @escaping @Sendable (SocketIOClusterServers) -> Void) {
        if let servers = self.servers { report(servers) }
    }
}
