import ApusBytes
import ApusConnectivity
import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusEventLoop
import ApusJSON
import ApusSocketIOProtocol
import ApusWebSocketProtocol
import Logging
import NIOCore

/// A client's connection: its session, the decoder of its packets, and its sockets by namespace.
///
/// `@unchecked Sendable`: every method is called on the session's event loop. The methods or their
/// callers assert this.
final class SocketIOConnection: EngineIOSessionDelegate, EventLoopTimerOwner, @unchecked Sendable {
    let session: EngineIOSession
    // The following properties of one byte are adjacent, to keep the object small.
    private let version: SocketIOVersion
    private var isPolling = false
    /// Whether ``SocketIOServerConfiguration/connectTimeout`` elapsed during an admission.
    private var connectDeadlinePassed = false
    /// Whether a socket waits until the outgoing queue is short (``isDrained()``).
    private var awaitsDrain = false
    private weak var server: SocketIOServer?
    private let parser: SocketIOParser
    /// The state that every packet uses. Unchecked: it is accessed in single statements that call
    /// no handler.
    @exclusivity(unchecked) private var inbound: Inbound
    /// Counts the traffic for the admin page; `nil` if the admin page is disabled. It does not
    /// affect the handling of packets.
    private let admin: SocketIOAdmin?
    /// The bytes of the events that wait for asynchronous handlers of this client's sockets.
    private(set) lazy var waitingEvents = SocketIOWaitingBytes(
        maximum: self.configuration.maximumWaitingEventBytes)
    private var connectDeadline = EventLoopTimer()
    /// The detailed reason for closing the session.
    private var closeDetail: String?
    /// The deadline for attachments. It runs only while `awaitsAttachments` is `true`.
    private var attachmentsDeadline = EventLoopTimer()

    /// The decoder of the client's packets, and the sockets that receive them.
    private struct Inbound {
        var decoder: SocketIOParser.Decoder
        var members: SocketIOMembers<SocketIOServerSocket>
        /// The number of bytes received of the current packet.
        var packetBytes = 0
        var awaitsAttachments = false
    }

    init(session: EngineIOSession, server: SocketIOServer?) {
        self.session = session
        self.version = SocketIOVersion(over: session.version)
        self.server = server
        self.admin = server?.admin
        let configuration = server?.configuration ?? SocketIOServerConfiguration()
        var limits = SocketIOLimits()
        limits.maximumAttachments = configuration.maximumAttachments
        limits.maximumConnectBytes = configuration.maximumAuthBytes
        self.parser = configuration.parser
        self.inbound = Inbound(
            decoder: configuration.parser.makeDecoder(version: self.version, limits: limits),
            members: SocketIOMembers(version: self.version, maximum: configuration.maximumNamespacesPerClient))
        self.startConnectDeadline()
    }

    /// The server's configuration; the default configuration after the server was deallocated.
    private var configuration: SocketIOServerConfiguration { self.server?.configuration ?? SocketIOServerConfiguration() }

    // MARK: Deadlines

    private static let connectName = EventLoopTimer.Name(0)
    private static let attachmentsName = EventLoopTimer.Name(1)

    func timerFired(_ name: EventLoopTimer.Name) {
        if name == Self.attachmentsName {
            self.inbound.awaitsAttachments = false
            self.server?.logger.debug("Attachments timed out", metadata: ["engineio.sid": "\(self.session.idPrefix)"])
            self.close(
                .parseError,
                detail: "the attachments of a packet did not arrive within \(self.configuration.attachmentsTimeout) (`attachmentsTimeout`)")
        } else if self.inbound.members.isEmpty {
            self.session.close(.forcedClose)
        } else {
            self.connectDeadlinePassed = true
        }
    }

    // MARK: From the session

    func sessionOpened(_ session: EngineIOSession) {
        if let admin = self.admin {
            self.isPolling = session.transport == .polling
            admin.traffic.connected(polling: self.isPolling)
        }
        if self.version.joinsRootImplicitly { self.admit(to: "/", auth: .object([:])) }
    }

    func sessionUpgraded(_ session: EngineIOSession) {
        guard let admin = self.admin else { return }
        if self.isPolling { admin.traffic.upgraded() }
        self.isPolling = false
        if let transport = session.transport { admin.upgraded(self.inbound.members.joined, to: transport) }
    }

    func sessionDrained(_ session: EngineIOSession) {
        guard self.awaitsDrain else { return }
        self.awaitsDrain = false
        for socket in self.inbound.members.joined { socket.drained() }
    }

    /// Decodes a message, and passes the packet that it completes to the socket of its namespace.
    func session(_ session: EngineIOSession, received message: EngineIOMessage) {
        if let admin = self.admin { admin.traffic.received(bytes: message.readableBytes) }
        do throws(SocketIOError) {
            self.inbound.packetBytes += message.readableBytes
            guard let packet = try self.inbound.decoder.received(message) else { return try self.waitForAttachments() }
            let bytes = self.inbound.packetBytes
            self.inbound.packetBytes = 0
            if self.inbound.awaitsAttachments { self.stopWaitingForAttachments() }
            switch try self.inbound.members.received(packet) {
            case .event(let socket, let name, let arguments, let ackID):
                let ack = ackID.map { SocketIOAck(socket: socket, id: $0) }
                socket.received(SocketIOReceivedEvent(name: name, payload: arguments, ack: ack, bytes: bytes))
            case .ack(let socket, let id, let arguments): socket.receivedAck(id, arguments)
            case .admit(let namespace, let auth): self.admit(to: namespace, auth: auth)
            case .refuse(let namespace): self.refuse(namespace, "Too many namespaces")
            case .leave(let socket): socket.closed(.clientNamespaceDisconnect)
            case .abandon(let socket): socket?.abandon()
            case .ignore: break
            }
        } catch {
            self.server?.logger.debug("Malformed packet", metadata: ["engineio.sid": "\(session.idPrefix)", "error": "\(error)"])
            self.close(.parseError, detail: "\(error)")
        }
    }

    private func startConnectDeadline() {
        let timers = self.session.timers
        timers.set(
            &self.connectDeadline, at: timers.now + TimeAmount(self.configuration.connectTimeout), for: self, Self.connectName)
    }

    /// Ends an admission without a member. Returns `false` if the client left during the admission.
    @discardableResult
    private func endAdmission(in namespace: String) -> Bool {
        defer { self.restartConnectDeadline() }
        return self.inbound.members.endAdmission(in: namespace)
    }

    /// Starts the connect deadline again if it passed during an admission, and no member remains.
    private func restartConnectDeadline() {
        guard self.connectDeadlinePassed, self.inbound.members.isEmpty else { return }
        self.connectDeadlinePassed = false
        self.startConnectDeadline()
    }

    /// Starts the wait for the attachments of a packet. One deadline covers all attachments of a
    /// packet.
    private func waitForAttachments() throws(SocketIOError) {
        if let name = self.inbound.decoder.namespaceOfPartialPacket { try self.inbound.members.checkPartialPacket(in: name) }
        self.session.countUnfinished(self.inbound.packetBytes)
        guard !self.inbound.awaitsAttachments else { return }
        self.inbound.awaitsAttachments = true
        let timers = self.session.timers
        let timeout = TimeAmount(self.configuration.attachmentsTimeout)
        timers.set(&self.attachmentsDeadline, at: timers.now + timeout, for: self, Self.attachmentsName)
    }

    private func stopWaitingForAttachments() {
        self.inbound.awaitsAttachments = false
        self.session.timers.cancel(&self.attachmentsDeadline)
        self.session.countUnfinished(0)
    }

    func sessionShouldClose(_ session: EngineIOSession) {
        // Waits for running handlers. `drainTimeout` limits the wait.
        EventLoopFuture.andAllComplete(self.inbound.members.joined.map { $0.settle() }, on: session.eventLoop)
            .whenComplete { _ in session.close(.serverShuttingDown) }
    }

    func session(_ session: EngineIOSession, closed reason: EngineIOCloseReason) {
        if let admin = self.admin {
            admin.traffic.disconnected(polling: self.isPolling, reason: SocketIOServerDisconnectReason(reason).description)
        }
        self.session.timers.cancel(&self.connectDeadline)
        self.connectDeadlinePassed = false
        self.stopWaitingForAttachments()
        for member in self.inbound.members.removeAll() {
            switch member {
            case .joined(let socket): socket.closed(.init(reason, detail: self.closeDetail ?? session.closeDetail))
            case .admitting(let socket):
                socket.giveBack()
                socket.abandon()
            case .requested, .left: break
            }
        }
    }

    // MARK: Admission

    /// Starts the admission to a namespace. `auth` is an object: the decoder accepts no other
    /// value.
    private func admit(to name: String, auth: SocketIOValue) {
        guard let namespace = self.server?.admit(to: name, auth: auth) else {
            self.endAdmission(in: name)
            return self.refuse(name, "Invalid namespace")
        }
        guard self.version.hasRecovery, let former = namespace.recovery?.holder(of: auth) else { return self.enter(namespace, auth: auth) }
        self.end(former) { self.enter(namespace, auth: auth) }
    }

    /// The time within which another event loop must close a connection. If it elapses, the client
    /// starts a new session.
    private static let takeoverTimeout = TimeAmount.seconds(5)

    /// Closes the earlier connection of a client that resumes its session on this connection. The
    /// private id identifies the session. Calls `proceed` on this event loop when the earlier
    /// connection has closed, or after ``takeoverTimeout``.
    ///
    /// Of two connections that resume at the same time, one resumes the session and the other
    /// starts a new one.
    private func end(_ former: SocketIOServerSocket, then proceed: @escaping () -> Void) {
        let eventLoop = self.session.eventLoop
        let ended = eventLoop.makePromise(of: Void.self)
        let deadline = eventLoop.scheduleTask(in: Self.takeoverTimeout) { ended.succeed() }
        ended.futureResult.assumeIsolated().whenComplete { _ in
            deadline.cancel()
            proceed()
        }
        former.eventLoop.runOnLoop {
            former.connection?.close(.transportError, detail: "the client resumed on another connection")
            ended.succeed()
        }
    }

    private func enter(_ namespace: SocketIONamespace, auth: SocketIOValue) {
        // The client may have left, or the connection may have closed, since the CONNECT.
        guard self.inbound.members.isRequested(namespace.name), let server = self.server else {
            self.endAdmission(in: namespace.name)
            return namespace.release()
        }
        let socket = self.makeSocket(in: namespace, server, auth: auth)
        let middleware = namespace.middleware
        let mayEnter = socket.isRecovered && namespace.recovery?.configuration.skipsMiddleware == true
        guard !middleware.isEmpty, !mayEnter else { return self.join(socket) }
        self.inbound.members.admitting(socket, in: namespace.name)
        let eventLoop = self.session.eventLoop
        // One task per admission, not per message. The task ends when the application's middleware
        // returns.
        Task {
            do {
                for check in middleware { try await check(socket) }
                eventLoop.execute { self.join(socket) }
            } catch {
                eventLoop.execute { self.refuse(socket, error) }
            }
        }
    }

    private func makeSocket(in namespace: SocketIONamespace, _ server: SocketIOServer, auth: SocketIOValue) -> SocketIOServerSocket {
        let shared = server.sharedBySockets.value(on: self.session.eventLoop)
        guard let log = namespace.recovery, self.version.hasRecovery else {
            return SocketIOServerSocket(
                id: self.version.socketID(engineID: self.session.id.description, namespace: namespace.name)
                    ?? RandomID.random().description,
                namespace: namespace, auth: auth, connection: self, shared: shared)
        }
        let (recovery, resumption) = log.claim(auth)
        // The private id is a secret of the server and the client, so it is removed from the
        // handshake.
        let shown = JSONObject((auth.objectValue ?? [:]).filter { $0.key != "pid" && $0.key != "offset" })
        let recoveryState = RecoveryState(pid: resumption?.pid ?? RandomID.random().description, resumption: resumption)
        let socket = SocketIOServerSocket(
            id: resumption?.session.socketID ?? RandomID.random().description, namespace: namespace, auth: .object(shown),
            connection: self, shared: shared, recovery: recovery, recoveryState: recoveryState)
        if resumption != nil { log.resuming(socket, recoveryState) }
        return socket
    }

    /// Ends an admission. The socket joins its namespace, unless the client left during the
    /// admission.
    private func join(_ socket: SocketIOServerSocket) {
        defer { socket.namespace.release() }
        guard self.inbound.members.join(socket, in: socket.namespace.name) else { return self.restartConnectDeadline() }
        // The deadline applies to the first namespace only.
        self.session.timers.cancel(&self.connectDeadline)
        self.connectDeadlinePassed = false
        guard let missed = socket.opened() else {
            // The history discarded events during the middleware check. The client reconnects with
            // a new session.
            return self.close(.transportError, detail: "the events that the client missed are no longer stored")
        }
        for outbound in missed { self.send(outbound) }
        let grant = self.version.grant(sid: socket.id, pid: socket.recoveryState?.pid, offset: socket.recoveryState?.joined)
        self.send(SocketIOPacket(namespace: socket.namespace.name, content: grant))
        socket.namespace.connected(socket)
    }

    private func refuse(_ name: String, _ message: String) {
        self.send(SocketIOPacket(namespace: name, content: self.version.refusal(message: message)))
    }

    /// Ends an admission with CONNECT_ERROR, unless the client left during the admission.
    private func refuse(_ socket: SocketIOServerSocket, _ error: any Error) {
        socket.namespace.release()
        guard self.endAdmission(in: socket.namespace.name) else { return }
        socket.abandon()
        let content: SocketIOPacket.Content
        if let refusal = error as? SocketIOConnectionRefusal {
            content = self.version.refusal(message: refusal.message, data: refusal.data)
        } else {
            // The text of an unexpected error may contain data that the client must not see.
            content = self.version.refusal(message: "Connection refused")
            self.server?.logger.warning(
                "Middleware failed", metadata: ["socketio.namespace": "\(socket.namespace.name)", "error": "\(error)"])
        }
        self.send(SocketIOPacket(namespace: socket.namespace.name, content: content))
    }

    // MARK: For sockets

    /// Returns whether the outgoing queue is short (``EngineIOSession/isDrained``). If it is not,
    /// ``SocketIOServerSocket/drained()`` is called when it has become short.
    func isDrained() -> Bool {
        if self.session.isDrained { return true }
        self.awaitsDrain = true
        return false
    }

    /// Sends a packet of the protocol, such as the answer to a CONNECT.
    func send(_ packet: SocketIOPacket) {
        do throws(SocketIOError) {
            try self.send(packet.content, namespace: packet.namespace)
        } catch {
            self.server?.logger.error("Packet encoding failed", metadata: ["error": "\(error)"])
        }
    }

    /// Sends a packet to this client only, where possible directly into the next write.
    ///
    /// - Throws: The parser's error for arguments that cannot be encoded.
    func send(_ content: SocketIOPacket.Content, namespace: String, isCompressed: Bool = true) throws(SocketIOError) {
        let large = content.arguments.largeText
        var text = self.session.beginText()
        defer { self.session.endText(&text) }
        guard try self.parser.writeText(of: content, omitsText: large != nil, namespace: namespace, into: &text) else {
            let packet = SocketIOPacket(namespace: namespace, content: content)
            return self.send(try SocketIOOutbound(packet, parser: self.parser, isCompressed: isCompressed))
        }
        // The first byte of the text is Engine.IO's packet type.
        if let admin = self.admin { admin.traffic.sent(bytes: text.count - 1 + (large?.readableBytes ?? 0)) }
        self.session.sendText(text, around: large, isCompressed ? .automatic : .never)
    }

    func send(_ outbound: SocketIOOutbound) {
        self.session.eventLoop.assertInEventLoop()
        if let admin = self.admin { outbound.count(in: admin.traffic) }
        outbound.send(to: self.session)
    }

    /// Closes the connection with a reason and its details.
    func close(_ reason: EngineIOCloseReason, detail: String) {
        self.closeDetail = detail
        self.session.close(reason)
    }

    /// Disconnects a socket from its namespace or, with `close`, closes the connection.
    func disconnect(_ socket: SocketIOServerSocket, close: Bool) {
        guard self.inbound.members.joined(in: socket.namespace.name) === socket else { return }
        if close {
            // Sends DISCONNECT for each namespace first: if only the connection were closed, the
            // client would reconnect automatically.
            for member in self.inbound.members.joined {
                self.send(SocketIOPacket(namespace: member.namespace.name, content: .disconnect))
            }
            return self.session.close(.forcedClose)
        }
        _ = self.inbound.members.disconnect(from: socket.namespace.name)
        self.send(SocketIOPacket(namespace: socket.namespace.name, content: .disconnect))
        socket.closed(.serverNamespaceDisconnect)
    }
}
