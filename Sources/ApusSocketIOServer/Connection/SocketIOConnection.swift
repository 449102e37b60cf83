import ApusConnectivity
import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import Logging
import NIOCore

/// One client: its session, the packets put together from its messages, its sockets by namespace.
///
/// Lives on its session's event loop; `@unchecked Sendable` because every method is called there (each asserts it or is called by one that does).
final class SocketIOConnection: EngineIOSessionDelegate, EventLoopTimerOwner, @unchecked Sendable {
    let session: EngineIOSession
    // A byte each, and together, for that is how they lie in memory.
    private let version: SocketIOVersion
    private var isPolling = false
    /// The connect deadline passed while middleware was judging.
    private var connectTimeIsUp = false
    /// Whether a socket has drain waiters.
    private var awaitsDrain = false
    @exclusivity(unchecked) private var awaitsAttachments = false
    private weak var server: SocketIOServer?
    private let parser: SocketIOParser
    // Unchecked is what every packet touches, within single statements and never over a call to a handler.
    @exclusivity(unchecked) private var decoder: SocketIOParser.Decoder
    @exclusivity(unchecked) private var members = SocketIOMembers()
    /// Counts what comes and goes, where the admin page is on.
    private let admin: SocketIOAdmin?
    /// Of the messages of the packet that is coming in.
    @exclusivity(unchecked) private var packetBytes = 0
    /// What waits for the asynchronous handlers of all its sockets.
    private(set) lazy var waitingEvents = SocketIOWaitingBytes(
        maximum: self.configuration.maximumWaitingEventBytes)
    /// Namespaces this side took the client out of: until it asks for one again, what it says there crossed our word on the wire.
    private var departed: Set<UTF8Key> = []
    private var connectDeadline = EventLoopTimer()
    /// Why we end the session, in more words than Engine.IO has.
    private var closeDetail: String?
    /// Runs only while `awaitsAttachments`.
    private var attachmentsDeadline = EventLoopTimer()

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
        self.decoder = configuration.parser.makeDecoder(version: self.version, limits: limits)
        self.startConnectDeadline()
    }

    /// The defaults when the server is gone.
    private var configuration: SocketIOServerConfiguration { self.server?.configuration ?? SocketIOServerConfiguration() }

    // MARK: Deadlines

    private static let connectName = EventLoopTimer.Name(0)
    private static let attachmentsName = EventLoopTimer.Name(1)

    func timerFired(_ name: EventLoopTimer.Name) {
        if name == Self.attachmentsName {
            self.awaitsAttachments = false
            self.server?.logger.debug("Attachments are missing", metadata: ["engineio.sid": "\(self.session.shownID)"])
            self.close(.parseError, detail: "attachments did not come within \(self.configuration.attachmentsTimeout)")
        } else if self.members.isEmpty {
            self.session.close(.forcedClose)
        } else {
            self.connectTimeIsUp = true
        }
    }

    // MARK: From the session

    func sessionOpened(_ session: EngineIOSession) {
        if let admin = self.admin {
            self.isPolling = session.transportName == "polling"
            admin.traffic.connected(polling: self.isPolling)
        }
        if self.version.joinsRootUnasked { self.connect(to: "/", auth: .object([:])) }
    }

    func sessionUpgraded(_ session: EngineIOSession) {
        guard let admin = self.admin else { return }
        self.isPolling = false
        admin.traffic.upgraded()
        admin.upgraded(self.members.joined)
    }

    func sessionDrained(_ session: EngineIOSession) {
        guard self.awaitsDrain else { return }
        self.awaitsDrain = false
        for socket in self.members.joined { socket.drained() }
    }

    func session(_ session: EngineIOSession, received message: EngineIOMessage) {
        if let admin = self.admin { admin.traffic.received(bytes: message.readableBytes) }
        do throws(SocketIOError) {
            self.packetBytes += message.readableBytes
            guard let packet = try self.decoder.received(message) else { return try self.waitForAttachments() }
            let bytes = self.packetBytes
            self.packetBytes = 0
            if self.awaitsAttachments { self.stopWaitingForAttachments() }
            try self.received(packet, bytes: bytes)
        } catch {
            self.server?.logger.debug("Bad packet", metadata: ["engineio.sid": "\(session.shownID)", "error": "\(error)"])
            self.close(.parseError, detail: "\(error)")
        }
    }

    private func startConnectDeadline() {
        let timers = self.session.timers
        timers.set(
            &self.connectDeadline, at: timers.now + TimeAmount(self.configuration.connectTimeout), for: self, Self.connectName)
    }

    /// The client did not come in after all. If it is nowhere, and its time passed meanwhile, it has as much again.
    private func forget(_ name: String) {
        self.members[name] = nil
        guard self.connectTimeIsUp, self.members.isEmpty else { return }
        self.connectTimeIsUp = false
        self.startConnectDeadline()
    }

    /// More messages of a packet are due. Only a client that may send it anything gets their memory and time. One deadline for
    /// all its attachments: those that trickle in win no time.
    private func waitForAttachments() throws(SocketIOError) {
        if let name = self.decoder.namespaceOfPartialPacket {
            let isJoined = if case .joined = self.members[name] { true } else { false }
            guard isJoined || self.departed.contains(UTF8Key(name)) else {
                throw SocketIOError(.malformedPacket, message: "A binary packet for \(name), which the client has not joined")
            }
        }
        self.session.countUnfinished(self.packetBytes)
        guard !self.awaitsAttachments else { return }
        self.awaitsAttachments = true
        let timers = self.session.timers
        let timeout = TimeAmount(self.configuration.attachmentsTimeout)
        timers.set(&self.attachmentsDeadline, at: timers.now + timeout, for: self, Self.attachmentsName)
    }

    private func stopWaitingForAttachments() {
        self.awaitsAttachments = false
        self.session.timers.cancel(&self.attachmentsDeadline)
        self.session.countUnfinished(0)
    }

    func sessionShouldClose(_ session: EngineIOSession) {
        // Handlers at work answer first; the drain's deadline bounds that.
        EventLoopFuture.andAllComplete(self.members.joined.map { $0.settle() }, on: session.eventLoop)
            .whenComplete { _ in session.close(.serverShuttingDown) }
    }

    func session(_ session: EngineIOSession, closed reason: EngineIOCloseReason) {
        if let admin = self.admin {
            admin.traffic.disconnected(polling: self.isPolling, reason: SocketIODisconnectReason(reason).description)
        }
        self.session.timers.cancel(&self.connectDeadline)
        self.stopWaitingForAttachments()
        for member in exchange(&self.members, with: .init()).all {
            switch member {
            case .joined(let socket): socket.closed(.init(reason, detail: self.closeDetail ?? session.closeDetail))
            case .joining(let socket):
                socket.giveBack()
                socket.abandon()
            case .returning, .leaving: break
            }
        }
    }

    // MARK: Packets

    private func received(_ packet: UndecodedPacket, bytes: Int) throws(SocketIOError) {
        if case .joined(let root) = self.members.root, packet.namespace == "/" {
            switch packet.content {
            case .event(let name, let arguments, let ackID): return root.received(name, arguments, ackID: ackID, bytes: bytes)
            case .ack(let id, let arguments): return root.receivedAck(id, arguments)
            case .connect, .disconnect, .connectError: break
            }
        }
        if case .connect(let auth) = packet.content {
            let (name, auth) = self.version.admission(namespace: packet.namespace, auth: auth)
            guard self.members[name] == nil else {
                throw SocketIOError(.malformedPacket, message: "A second CONNECT for \(name)")
            }
            self.departed.remove(UTF8Key(name))
            return self.connect(to: name, auth: auth)
        }
        switch (self.members[packet.namespace], packet.content) {
        case (.joined(let socket), .event(let name, let arguments, let ackID)):
            socket.received(name, arguments, ackID: ackID, bytes: bytes)
        case (.joined(let socket), .ack(let id, let arguments)): socket.receivedAck(id, arguments)
        case (.joined(let socket), .disconnect):
            self.members[packet.namespace] = nil
            socket.closed(.clientNamespaceDisconnect)
        case (.joining(let socket), .disconnect):
            self.members[packet.namespace] = .leaving
            socket.abandon()
        case (.returning, .disconnect): self.members[packet.namespace] = .leaving
        case (.leaving, .disconnect), (.leaving, .ack): break
        case (nil, .disconnect), (nil, .ack): break  // crossed our own disconnect on the wire
        case (nil, .event) where self.departed.contains(UTF8Key(packet.namespace)): break  // as those above
        case (nil, .event):
            throw SocketIOError(.malformedPacket, message: "An event for \(packet.namespace), which the client has not joined")
        case (.joining, .event), (.joining, .ack), (.returning, .event), (.returning, .ack), (.leaving, .event):
            throw SocketIOError(.malformedPacket, message: "A packet for \(packet.namespace) before its CONNECT was answered")
        case (_, .connect), (_, .connectError):
            throw SocketIOError(.malformedPacket, message: "CONNECT_ERROR is the server's to send")
        }
    }

    /// `auth` is an object: the decoder takes no other.
    private func connect(to name: String, auth: SocketIOValue) {
        guard self.members.count < self.server?.configuration.maximumNamespacesPerClient ?? .max else {
            return self.refuse(name, "Too many namespaces")
        }
        guard let server = self.server, let namespace = server.admit(to: name, auth: auth) else {
            return self.refuse(name, "Invalid namespace")
        }
        guard self.version.hasRecovery, let former = namespace.recovery?.holder(of: auth) else {
            return self.enter(namespace, server, auth: auth)
        }
        self.members[name] = .returning
        self.end(former) {
            let isReturning = if case .returning = self.members[name] { true } else { false }
            guard isReturning, let server = self.server else {
                if case .leaving = self.members[name] { self.forget(name) }
                return namespace.release()
            }
            self.enter(namespace, server, auth: auth)
        }
    }

    /// The time another event loop has to end a connection. After that the client starts anew.
    private static let takeoverTimeout = TimeAmount.seconds(5)

    /// Ends the connection of a socket whose client has returned on this one, as the private id proves. Then continues on this event loop.
    ///
    /// Of two connections that return at the same moment, one resumes the session and the other starts anew.
    private func end(_ former: SocketIOServerSocket, then proceed: @escaping () -> Void) {
        let eventLoop = self.session.eventLoop
        let ended = eventLoop.makePromise(of: Void.self)
        let deadline = eventLoop.scheduleTask(in: Self.takeoverTimeout) { ended.succeed() }
        ended.futureResult.assumeIsolated().whenComplete { _ in
            deadline.cancel()
            proceed()
        }
        former.eventLoop.runOnLoop {
            former.connection?.close(.transportError, detail: "the client came back on another connection")
            ended.succeed()
        }
    }

    private func enter(_ namespace: SocketIONamespace, _ server: SocketIOServer, auth: SocketIOValue) {
        let socket = self.makeSocket(in: namespace, server, auth: auth)
        let middleware = namespace.middleware
        let mayEnter = socket.isRecovered && namespace.recovery?.configuration.skipsMiddleware == true
        guard !middleware.isEmpty, !mayEnter else {
            self.join(socket)
            return namespace.release()
        }
        self.members[namespace.name] = .joining(socket)
        let eventLoop = self.session.eventLoop
        // One task for a connection's admission, not for a message. It ends by itself: middleware is the application's.
        Task {
            do {
                for check in middleware { try await check(socket) }
                eventLoop.execute { self.admit(socket) }
            } catch {
                eventLoop.execute { self.refuse(socket, error) }
            }
        }
    }

    private func makeSocket(in namespace: SocketIONamespace, _ server: SocketIOServer, auth: SocketIOValue) -> SocketIOServerSocket {
        let limits = server.socketLimits.value(on: self.session.eventLoop)
        guard let log = namespace.recovery, self.version.hasRecovery else {
            return SocketIOServerSocket(
                id: self.version.socketID(engineID: self.session.id.description, namespace: namespace.name)
                    ?? EngineIOID.random().description,
                namespace: namespace, auth: auth, connection: self, limits: limits)
        }
        let (recovery, resumption) = log.claim(auth)
        // The id is a secret between us and the client: nobody who looks at the handshake needs it.
        let shown = JSONObject((auth.objectValue ?? [:]).filter { $0.key != "pid" && $0.key != "offset" })
        let recoveryState = RecoveryState(pid: resumption?.pid ?? EngineIOID.random().description, resumption: resumption)
        let socket = SocketIOServerSocket(
            id: resumption?.session.socketID ?? EngineIOID.random().description, namespace: namespace, auth: .object(shown),
            connection: self, limits: limits, recovery: recovery, recoveryState: recoveryState)
        if resumption != nil { log.resuming(socket, recoveryState) }
        return socket
    }

    private func admit(_ socket: SocketIOServerSocket) {
        if self.isStillJoining(socket) { self.join(socket) }
        socket.namespace.release()
    }

    /// Middleware has judged. `false`: the client left meanwhile, and is forgotten now.
    private func isStillJoining(_ socket: SocketIOServerSocket) -> Bool {
        switch self.members[socket.namespace.name] {
        case .joining(let joining): return joining === socket
        case .leaving: self.forget(socket.namespace.name)
        case .returning, .joined, nil: break
        }
        return false
    }

    private func join(_ socket: SocketIOServerSocket) {
        self.members[socket.namespace.name] = .joined(socket)
        // It was for the first namespace.
        self.session.timers.cancel(&self.connectDeadline)
        self.connectTimeIsUp = false
        guard let missed = socket.opened() else {
            // The history ran on while middleware was judging. The client comes back, and starts anew.
            return self.close(.transportError, detail: "what the client missed is gone")
        }
        for outbound in missed { self.send(outbound) }
        let grant = self.version.grant(sid: socket.id, pid: socket.recoveryState?.pid, offset: socket.recoveryState?.joined)
        self.send(SocketIOPacket(namespace: socket.namespace.name, content: grant))
        socket.namespace.connected(socket)
    }

    private func refuse(_ name: String, _ message: String) {
        self.send(SocketIOPacket(namespace: name, content: self.version.refusal(message: message)))
    }

    private func refuse(_ socket: SocketIOServerSocket, _ error: any Error) {
        socket.namespace.release()
        guard self.isStillJoining(socket) else { return }
        self.forget(socket.namespace.name)
        socket.abandon()
        let content: SocketIOPacket.Content
        if let refusal = error as? SocketIOConnectionRefusal {
            content = self.version.refusal(message: refusal.message, data: refusal.data)
        } else {
            // An unforeseen error may carry what is not the client's business.
            content = self.version.refusal(message: "Connection refused")
            self.server?.logger.warning(
                "Middleware failed", metadata: ["socketio.namespace": "\(socket.namespace.name)", "error": "\(error)"])
        }
        self.send(SocketIOPacket(namespace: socket.namespace.name, content: content))
    }

    // MARK: For sockets

    /// Whether the outgoing queue is short. If not, ``SocketIOServerSocket/drained()`` is called
    /// once it is.
    func isDrained() -> Bool {
        if self.session.isDrained { return true }
        self.awaitsDrain = true
        return false
    }

    func send(_ packet: SocketIOPacket) {
        do throws(SocketIOError) {
            let undecoded = UndecodedPacket(packet)
            if self.admin == nil, try self.sendText(of: undecoded) { return }
            self.send(try SocketIOOutbound(undecoded, parser: self.parser))
        } catch {
            self.server?.logger.error("A packet could not be encoded", metadata: ["error": "\(error)"])
        }
    }

    private func sendText(of undecoded: UndecodedPacket) throws(SocketIOError) -> Bool {
        try self.sendText { text throws(SocketIOError) in try self.parser.writeText(of: undecoded, into: &text) }
    }

    /// Sends what `write` appends, if it answers that it is all there is to a packet.
    @inline(__always)
    private func sendText(
        around middle: ByteBuffer? = nil, _ compression: WebSocketCompression = .automatic,
        _ write: (inout [UInt8]) throws(SocketIOError) -> Bool
    ) throws(SocketIOError) -> Bool {
        var text = self.session.beginText()
        defer { self.session.endText(&text) }
        guard try write(&text) else { return false }
        self.session.sendText(text, around: middle, compression)
        return true
    }

    /// Sends what is this client's alone: where it can be, straight into the write of this turn.
    ///
    /// - Throws: What the parser says of arguments that have no form on the wire.
    func send(
        _ call: EventOrAck, _ arguments: SocketIOPayload, namespace: String, isCompressed: Bool = true
    ) throws(SocketIOError) {
        self.session.eventLoop.assertInEventLoop()
        // The admin page counts what goes out.
        if self.admin == nil, try self.sendText(of: call, arguments, namespace, isCompressed ? .automatic : .never) { return }
        let packet = UndecodedPacket(namespace: namespace, content: .init(call, arguments))
        self.send(try SocketIOOutbound(packet, parser: self.parser, isCompressed: isCompressed))
    }

    private func sendText(
        of call: EventOrAck, _ arguments: SocketIOPayload, _ namespace: String, _ compression: WebSocketCompression
    ) throws(SocketIOError) -> Bool {
        let large = arguments.largeText
        return try self.sendText(around: large, compression) { text throws(SocketIOError) in
            try self.parser.writeText(of: call, arguments, leavesOutText: large != nil, namespace: namespace, into: &text)
        }
    }

    func send(_ outbound: SocketIOOutbound) {
        self.session.eventLoop.assertInEventLoop()
        if let admin = self.admin { outbound.count(in: admin.traffic) }
        outbound.send(to: self.session)
    }

    /// Ends the whole connection.
    func close(_ reason: EngineIOCloseReason, detail: String) {
        self.closeDetail = detail
        self.session.close(reason)
    }

    /// The server takes a socket out of its namespace.
    func disconnect(_ socket: SocketIOServerSocket, close: Bool) {
        guard case .joined(let joined) = self.members[socket.namespace.name], joined === socket else { return }
        if close {
            // Each namespace is told first: a client that was only cut off would come back by itself.
            for member in self.members.joined {
                self.send(SocketIOPacket(namespace: member.namespace.name, content: .disconnect))
            }
            return self.session.close(.forcedClose)
        }
        self.members[socket.namespace.name] = nil
        // Bounded as the members are: whoever is put out of more is hardly still speaking to the first.
        if self.departed.count >= self.server?.configuration.maximumNamespacesPerClient ?? 0 { _ = self.departed.popFirst() }
        self.departed.insert(UTF8Key(socket.namespace.name))
        self.send(SocketIOPacket(namespace: socket.namespace.name, content: .disconnect))
        socket.closed(.serverNamespaceDisconnect)
    }
}
