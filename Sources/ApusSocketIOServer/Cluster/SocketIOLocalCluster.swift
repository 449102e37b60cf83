import ApusBytes
import ApusEngineIOProtocol
import ApusSocketIOProtocol
import NIOConcurrencyHelpers

/// A cluster inside one process: servers on different ports, or with different settings, that share
/// rooms.
///
/// ```swift
/// let cluster = SocketIOLocalCluster()
/// var configuration = SocketIOServerConfiguration()
/// configuration.cluster = cluster.transport()          // a new one for each server
/// ```
///
/// Each message is delivered during the call that publishes it.
public final class SocketIOLocalCluster: Sendable {
    private let heartbeat: SocketIOClusterHeartbeat?
    private let members = NIOLockedValueBox<[SocketIONodeID: Member]>([:])

    fileprivate struct Member {
        var receiver: any SocketIOClusterReceiver
        var namespaces: Set<String> = []
    }

    /// Creates a cluster without servers.
    ///
    /// - Parameter heartbeat: The settings of the heartbeats by which the servers detect each
    ///   other, as over a network. Default: `nil`, the cluster itself maintains the list of
    ///   servers.
    public init(heartbeat: SocketIOClusterHeartbeat? = nil) {
        self.heartbeat = heartbeat
    }

    /// Returns a new transport for one server.
    public func transport() -> any SocketIOClusterTransport { Transport(cluster: self, heartbeat: self.heartbeat) }

    /// The publisher for a ``SocketIOClusterEmitter``.
    public var publisher: any SocketIOClusterPublisher { Publisher(cluster: self) }

    private func deliver(_ message: SocketIOClusterMessage) {
        let others = self.members.withLockedValue { members in members.filter { $0.key != message.sender }.map(\.value.receiver) }
        for receiver in others { receiver.receivedMessage(message) }
    }

    private struct Publisher: SocketIOClusterPublisher {
        let cluster: SocketIOLocalCluster

        func publish(_ message: SocketIOClusterMessage) { self.cluster.deliver(message) }
    }

    /// The transport of one server. Its node id is unknown until the server starts it.
    private final class Transport: SocketIOClusterTransport {
        private let cluster: SocketIOLocalCluster
        let heartbeat: SocketIOClusterHeartbeat?
        private let node = NIOLockedValueBox<SocketIONodeID?>(nil)

        init(cluster: SocketIOLocalCluster, heartbeat: SocketIOClusterHeartbeat?) {
            self.cluster = cluster
            self.heartbeat = heartbeat
        }

        func start(_ receiver: any SocketIOClusterReceiver) {
            self.node.withLockedValue { $0 = receiver.node }
            self.cluster.members.withLockedValue { $0[receiver.node] = Member(receiver: receiver) }
        }

        func stop() {
            guard let node = self.node.withLockedValue({ exchange(&$0, with: nil) }) else { return }
            let others = self.cluster.members.withLockedValue { members in
                members[node] = nil
                return members.values.map(\.receiver)
            }
            for receiver in others { receiver.left(node) }
        }

        func publish(_ message: SocketIOClusterMessage) { self.cluster.deliver(message) }

        func respond(_ response: SocketIOClusterResponse, to node: SocketIONodeID) {
            self.cluster.members.withLockedValue { $0[node]?.receiver }?.receivedResponse(response)
        }

        func servers(in namespace: String, report: @escaping @Sendable (SocketIOClusterServers) -> Void) {
            let own = self.node.withLockedValue { $0 }
            let nodes = self.cluster.members.withLockedValue { members in
                members.filter { $0.key != own && $0.value.namespaces.contains(namespace) }.map(\.key)
            }
            report(.nodes(Set(nodes)))
        }

        func opened(namespace: String) { self.change { $0.namespaces.insert(namespace) } }

        func closed(namespace: String) { self.change { $0.namespaces.remove(namespace) } }

        private func change<Result>(_ body: (inout Member) -> Result) {
            guard let node = self.node.withLockedValue({ $0 }) else { return }
            self.cluster.members.withLockedValue { members in
                guard let index = members.index(forKey: node) else { return }
                _ = body(&members.values[index])
            }
        }
    }
}
