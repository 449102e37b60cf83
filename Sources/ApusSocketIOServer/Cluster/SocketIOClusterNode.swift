import ApusBytes
import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol
import Atomics
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// A server's node in its cluster. It performs the operations that other servers publish, and
/// publishes the operations of its own server.
///
/// A server applies each operation to its own sockets first and then publishes it. A transport
/// never returns a message to its sender.
final class SocketIOClusterNode: SocketIOClusterReceiver {
    let pendingRequests: PendingRequests
    private let transport: any SocketIOClusterTransport
    private let ackTimeout: Duration
    private let state: NIOLockedValueBox<State>

    private struct State {
        weak var server: SocketIOServer?
        var membership: SocketIOClusterMembership
        var isStopped = false
    }

    init(transport: any SocketIOClusterTransport, pendingRequests: PendingRequests, ackTimeout: Duration) {
        self.transport = transport
        self.pendingRequests = pendingRequests
        self.ackTimeout = ackTimeout
        self.state = NIOLockedValueBox(State(membership: .init(timeout: transport.heartbeat?.timeout ?? .seconds(10))))
    }

    var node: SocketIONodeID { self.pendingRequests.node }

    // MARK: Lifetime

    func start(for server: SocketIOServer) {
        self.state.withLockedValue { $0.server = server }
        self.transport.start(self)
        guard let heartbeat = self.transport.heartbeat else { return }
        self.publish(.initialHeartbeat, in: "/")
        self.scheduleHeartbeat(heartbeat)
    }

    func stop() {
        let wasStopped = self.state.withLockedValue { exchange(&$0.isStopped, with: true) }
        guard !wasStopped else { return }
        self.publish(.close, in: "/")
        self.transport.stop()
    }

    private func scheduleHeartbeat(_ heartbeat: SocketIOClusterHeartbeat) {
        self.pendingRequests.schedule(in: heartbeat.interval) { [weak self] in
            guard let self, !self.state.withLockedValue({ $0.isStopped }) else { return }
            self.publish(.heartbeat, in: "/")
            let silent = self.state.withLockedValue { $0.membership.timerFired(at: self.pendingRequests.now) }
            for node in silent { self.pendingRequests.left(node) }
            self.scheduleHeartbeat(heartbeat)
        }
    }

    // MARK: To other servers

    func publish(_ content: SocketIOClusterMessage.Content, in namespace: String) {
        self.transport.publish(SocketIOClusterMessage(sender: self.node, namespace: namespace, content: content))
    }

    /// Registers the servers that the request waits for.
    func ask(_ id: String, in namespace: String, andSelf: Bool) {
        guard self.transport.heartbeat == nil else {
            let nodes = self.state.withLockedValue { $0.membership.nodes }
            return self.pendingRequests.asked(id, .nodes(nodes), andSelf: andSelf)
        }
        self.transport.servers(in: namespace) { [weak self] servers in self?.pendingRequests.asked(id, servers, andSelf: andSelf) }
    }

    func opened(namespace: String) { self.transport.opened(namespace: namespace) }

    func closed(namespace: String) { self.transport.closed(namespace: namespace) }

    func changed(room: String, in namespace: String, exists: Bool) {
        self.transport.changed(room: room, in: namespace, exists: exists)
    }

    // MARK: From other servers

    func left(_ node: SocketIONodeID) {
        _ = self.state.withLockedValue { $0.membership.left(node) }
        self.pendingRequests.left(node)
    }

    func receivedResponse(_ response: SocketIOClusterResponse) {
        let (id, sender) = (response.request, response.sender)
        switch response.content {
        case .sockets(let sockets):
            self.pendingRequests.reported(id, from: sender, announcing: sockets.count, sockets.map { .socket($0) })
        case .serverSideEmit(let value): self.pendingRequests.reported(id, from: sender, announcing: 1, [.value(value)])
        case .clientCount(let count): self.pendingRequests.reported(id, from: sender, announcing: count)
        case .acknowledgement(let values): self.pendingRequests.replied(id, from: sender, .values(values))
        }
    }

    func receivedMessage(_ message: SocketIOClusterMessage) {
        guard message.sender != self.node else { return }
        let server = self.state.withLockedValue { state in
            if self.transport.heartbeat != nil { state.membership.heard(message.sender, at: self.pendingRequests.now) }
            return state.isStopped ? nil : state.server
        }
        switch message.content {
        case .initialHeartbeat: return self.publish(.heartbeat, in: "/")
        case .heartbeat: return
        case .close: return self.left(message.sender)
        default: break
        }
        guard let namespace = server?.existingNamespace(message.namespace) else { return self.respondWithoutNamespace(message) }
        self.perform(message, namespace)
    }

    private func perform(_ message: SocketIOClusterMessage, _ namespace: SocketIONamespace) {
        switch message.content {
        case .initialHeartbeat, .heartbeat, .close: break
        case .broadcast(let event, let arguments, let targets, let flags, let request):
            let delivery = SocketIODelivery(event: event, arguments: .init(arguments), targets: targets, flags: flags)
            self.deliver(delivery, namespace, for: message.sender, request)
        case .join(let targets, let rooms): namespace.join(namespace.sockets(in: targets), rooms)
        case .leave(let targets, let rooms): namespace.leave(namespace.sockets(in: targets), rooms)
        case .disconnect(let targets, let close):
            for socket in namespace.sockets(in: targets) { socket.disconnect(close: close) }
        case .fetchSockets(let targets, let request):
            self.respond(.sockets(namespace.descriptions(of: targets)), namespace.name, to: message.sender, request)
        case .serverSideEmit(let event, let arguments, let request):
            let (sender, name) = (message.sender, namespace.name)
            let acknowledge = request.map { request -> @Sendable (SocketIOValue) -> Void in
                { [weak self] value in self?.respond(.serverSideEmit(value), name, to: sender, request) }
            }
            namespace.receivedServerSide(SocketIOServerSideEvent(name: event, arguments: arguments, respond: acknowledge))
        }
    }

    private func deliver(_ delivery: SocketIODelivery, _ namespace: SocketIONamespace, for node: SocketIONodeID, _ request: String?) {
        do throws(SocketIOError) {
            guard let request else { return _ = try namespace.deliver(delivery) }
            let name = namespace.name
            // `stop` retains the sockets. The hook releases it with the last ack, before the
            // timeout of the broadcast.
            let (ending, waiting) = (CompletionHook(), ManagedAtomic(0))
            let (count, stop) = try namespace.deliverRequestingAcks(delivery) { [weak self] values in
                // The protocol has no message for a client that left: the server that sent the
                // broadcast waits until its timeout.
                if let values { self?.respond(.acknowledgement(values), name, to: node, request) }
                if waiting.wrappingDecrementThenLoad(ordering: .relaxed) == 0 { ending.cancel() }
            }
            self.respond(.clientCount(count), name, to: node, request)
            ending.set(stop)
            if waiting.wrappingIncrementThenLoad(by: count, ordering: .relaxed) == 0 { ending.cancel() }
            self.pendingRequests.schedule(in: delivery.flags.timeout ?? self.ackTimeout) { ending.end(.timedOut) }
        } catch {
            namespace.reportUnencodable(delivery.event, error)
            if let request { self.respond(.clientCount(0), namespace.name, to: node, request) }
        }
    }

    /// Responds with no clients or sockets. A server with heartbeats expects a response for every
    /// namespace.
    private func respondWithoutNamespace(_ message: SocketIOClusterMessage) {
        switch message.content {
        case .broadcast(_, _, _, _, let request?): self.respond(.clientCount(0), message.namespace, to: message.sender, request)
        case .fetchSockets(_, let request): self.respond(.sockets([]), message.namespace, to: message.sender, request)
        case .initialHeartbeat, .heartbeat, .close, .broadcast, .join, .leave, .disconnect, .serverSideEmit: break
        }
    }

    private func respond(_ content: SocketIOClusterResponse.Content, _ namespace: String, to node: SocketIONodeID, _ request: String) {
        self.transport.respond(
            SocketIOClusterResponse(sender: self.node, namespace: namespace, request: request, content: content), to: node)
    }
}
