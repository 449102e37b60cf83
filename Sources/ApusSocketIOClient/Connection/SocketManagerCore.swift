import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The connection of a manager: makes it, loses it, makes it again, and shares it out among the namespaces.
///
/// Unchecked because: all but the constants and the box is touched on `eventLoop` only, which ``onLoop(_:)`` and the engine see to.
final class SocketManagerCore: @unchecked Sendable {
    let eventLoop: any EventLoop
    let configuration: SocketManagerConfiguration
    let logger: Logger
    let callbacks: SocketCallbackQueue?
    private let measuredLatency = NIOLockedValueBox<Duration?>(nil)
    /// The round trip of the last ping, where it could be measured.
    var latency: Duration? { self.measuredLatency.withLockedValue { $0 } }
    private let url: String
    private let namespaces = NIOLockedValueBox<[UTF8Key: SocketNamespaceCore]>([:])
    /// One of them, when it is known. None is ever taken out.
    @exclusivity(unchecked) private var rootNamespace: SocketNamespaceCore?

    var reconnection: ReconnectionStateMachine
    var network: NetworkWatch
    // Unchecked is what every packet touches, within single statements and never over a call to a listener.
    @exclusivity(unchecked) private var engine: EngineIOClientConnection?
    /// Outlives each of them.
    private let memory = SessionCache()
    @exclusivity(unchecked) private var decoder: SocketIOParser.Decoder
    /// Of the messages of the packet that is coming in.
    @exclusivity(unchecked) private var packetBytes = 0
    /// The packet that is coming in.
    @exclusivity(unchecked) private var packetNumber = 0
    /// The last packet whose attachments had to be waited for.
    private var packetInParts = -1
    private lazy var attachmentsTimer = DeadlineTimer(on: self.eventLoop) { [weak self] number in
        self?.packetNumber == number
    } passed: { [weak self] _ in
        self?.attachmentsTimedOut()
    }
    var retryTimer: Scheduled<Void>?
    private var waitsForDeparture: [() -> Void] = []
    /// Connections that were ended and still send what was emitted before.
    private(set) var departing = 0
    private var generator = SystemRandomNumberGenerator()
    /// How many attempts the present connection took, 0 for the first.
    private(set) var attempts = 0

    init(url: String, configuration: SocketManagerConfiguration, logger: Logger, eventLoop: any EventLoop) {
        self.url = url
        self.configuration = configuration
        self.logger = logger
        self.eventLoop = eventLoop
        self.callbacks = SocketCallbackQueue(
            configuration.callbacks, maximumWaiting: configuration.maximumPendingCallbacks,
            maximumBytes: configuration.maximumPendingCallbackBytes)
        self.reconnection = ReconnectionStateMachine(policy: configuration.reconnection)
        self.decoder = configuration.parser.makeDecoder()
        self.network = NetworkWatch(host: Self.host(of: url))
    }

    /// Runs `body` on the event loop: at once when there already, so that what a handler emits keeps its place.
    func onLoop(_ body: @escaping @Sendable (SocketManagerCore) -> Void) {
        if self.eventLoop.inEventLoop { body(self) } else { self.eventLoop.execute { body(self) } }
    }

    func namespace(_ name: String, auth: SocketAuthentication?) -> SocketNamespaceCore {
        self.namespaces.withLockedValue { namespaces in
            if let known = namespaces[UTF8Key(name)] { return known }
            let made = SocketNamespaceCore(name: name, auth: auth ?? self.configuration.auth, manager: self)
            namespaces[UTF8Key(name)] = made
            return made
        }
    }

    /// The namespace of a packet. `/`, where nearly all go, is looked up once.
    private func receiver(_ name: String) -> SocketNamespaceCore? {
        if name == "/", let root = self.rootNamespace { return root }
        let namespace = self.namespaces.withLockedValue { $0[UTF8Key(name)] }
        if name == "/" { self.rootNamespace = namespace }
        return namespace
    }

    private var all: [SocketNamespaceCore] {
        self.namespaces.withLockedValue { $0.values.sorted { $0.name < $1.name } }
    }

    /// The session that stands; nil while there is none.
    private(set) var session: SocketIOClientSession?
    @exclusivity(unchecked) private var root = SocketIORootAdmission(version: .v5)

    /// Whether what is sent now leaves at once.
    var isWritable: Bool { self.engine?.isWritable ?? false }

    // MARK: - Connecting

    /// A namespace wants the connection.
    func start() {
        self.watchNetwork()
        if case .connect = self.reconnection.start() { self.connect() }
    }

    private func connect() {
        self.attempts = self.reconnection.attempt
        self.session = nil
        do throws(EngineIOError) {
            let engine = try EngineIOClientConnection(
                url: self.url, configuration: self.configuration.engine, memory: self.memory, eventLoop: self.eventLoop,
                logger: self.logger, delegate: self)
            self.engine = engine
            engine.start()
        } catch {
            // The settings are wrong: another attempt would be as well.
            self.reconnection.stop()
            self.stopWatching()
            let failure = SocketIOError(.invalidArguments, message: error.message, cause: error)
            for namespace in self.all { namespace.gaveUp(failure, isFinal: false) }
        }
    }

    /// A namespace was joined.
    func joined() {
        _ = self.reconnection.opened(at: self.now)
    }

    /// For the policy's stable time.
    private var now: Duration { .nanoseconds(Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

    /// A namespace left. The last one closes the connection.
    func closeIfUnused() {
        guard !self.all.contains(where: { $0.isActive }) else { return }
        self.stop()
    }

    /// - Parameter departed: Called once, when the farewells have left, or there are none.
    func disconnectAll(departed: (() -> Void)? = nil) {
        if let departed { self.waitsForDeparture.append(departed) }
        for namespace in self.all { namespace.disconnect() }
        self.stop()
    }

    private func stop() {
        self.reconnection.stop()
        self.stopWatching()
        self.retryTimer?.cancel()
        self.retryTimer = nil
        self.packetEnded()
        let engine = self.engine
        self.engine = nil  // first: its farewell is not news
        self.session = nil
        if let engine { self.depart(engine, EngineIOError(.closed, message: "closed by this side")) }
        self.tellDeparture()
    }

    /// Ends a connection in order.
    private func depart(_ engine: EngineIOClientConnection, _ error: EngineIOError) {
        self.departing += 1
        engine.close(error) {
            self.departing -= 1
            self.tellDeparture()
        }
    }

    private func tellDeparture() {
        guard self.departing == 0 else { return }
        for waiter in exchange(&self.waitsForDeparture, with: []) { waiter() }
    }

    /// Connects now: a wait is cut short, a connection that stands is made anew.
    func reconnect() {
        let wanted = self.all.filter { $0.isActive }
        guard !wanted.isEmpty else { return }
        if let engine = self.engine { self.depart(engine, EngineIOError(.closed, message: "another connection was asked for")) }
        if case .connect(let attempt) = self.reconnection.retryNow() { self.retry(attempt) }
        // A policy without reconnection gave them up.
        for namespace in wanted where !namespace.isActive { namespace.connect() }
    }

    /// The server granted a namespace as those of Socket.IO 2.x do, which take any version that is asked for as theirs.
    func serverIsOlder() {
        guard let engine = self.engine else { return }
        let error = EngineIOError(.unsupportedVersion, message: "the server speaks Engine.IO 3, version 4 was asked for")
        guard self.configuration.engine.version == .automatic, self.memory.recognizedVersion == nil else {
            self.stop()
            return self.giveUpVersion(error)
        }
        self.logger.debug("Connecting again in version 3, which the server speaks")
        self.memory.recognizedVersion = .v3
        self.engine = nil
        self.packetEnded()
        self.depart(engine, error)
        for namespace in self.all { namespace.sessionReplaced() }
        self.connect()
    }

    /// The server speaks another version than the one that is demanded: it will tomorrow as well.
    private func giveUpVersion(_ error: EngineIOError) {
        self.reconnection.stop()
        self.stopWatching()
        let message =
            self.configuration.engine.version == .v3
            ? "the server does not speak Engine.IO 3, the protocol of Socket.IO 2.x; set `version` to .v4 or .automatic"
            : "the server speaks Engine.IO 3, the protocol of Socket.IO 2.x; set `version` to .v3 or .automatic"
        let failure = SocketIOError(.unsupportedVersion, message: message, cause: error)
        for namespace in self.all { namespace.gaveUp(failure, isFinal: false) }
    }

    /// Gives up the present connection and counts it as failed.
    func fail(_ error: EngineIOError) {
        self.engine?.close(error)
    }

    // MARK: - Packets

    /// Whether the server puts us into this namespace without being asked.
    func entersUnasked(_ namespace: String) -> Bool { namespace == "/" && self.session?.version.joinsRootUnasked == true }

    /// Tells the server that a namespace is left.
    func leave(_ namespace: SocketNamespaceCore) {
        if namespace.name == "/" { self.root.left() }
        guard let packet = try? self.encode(SocketIOPacket(namespace: namespace.name, content: .disconnect)) else {
            return
        }
        _ = self.send(packet)
    }

    /// Asks for a namespace, unless the server lets us in by itself.
    func join(_ namespace: SocketNamespaceCore, auth: SocketIOValue?) throws(SocketIOError) {
        guard let version = self.session?.version else { return }
        let connect = try self.encode(version.request(namespace: namespace.name, auth: auth))
        switch namespace.name == "/" ? self.root.requested() : .ask {
        case .ask: _ = self.send(connect)
        case .wait: break
        case .enter: namespace.received(.connect(nil), bytes: 0)
        }
    }

    /// The messages of a packet.
    func encode(_ packet: SocketIOPacket) throws(SocketIOError) -> [EngineIOMessage] {
        try self.configuration.parser.encode(packet)
    }

    /// Sends the messages of a packet, all or none; false when the queue is full or there is no session.
    func send(_ packet: [EngineIOMessage], compresses: Bool = true) -> Bool {
        guard let engine = self.engine else { return false }
        return engine.send(packet, compresses: compresses)
    }

    /// One deadline for all attachments of a packet: those that trickle in win no time.
    private func waitForAttachments() {
        guard self.packetInParts != self.packetNumber else { return }
        self.packetInParts = self.packetNumber
        self.attachmentsTimer.add(self.packetNumber, in: self.configuration.attachmentsTimeout, amongWaiting: 1)
    }

    private func attachmentsTimedOut() {
        let timeout = self.configuration.attachmentsTimeout
        self.fail(EngineIOError(.malformedPacket, message: "the attachments of a packet did not come within \(timeout)"))
    }

    /// No more of a packet that is coming in is waited for.
    private func packetEnded() {
        self.packetBytes = 0
        self.packetNumber += 1
    }
}

extension SocketManagerCore: EngineIOClientDelegate {
    func engineOpened(_ connection: EngineIOClientConnection, handshake: EngineIOHandshake) {
        guard connection === self.engine else { return }
        let session = SocketIOClientSession(version: SocketIOVersion(over: connection.version), id: handshake.sid)
        self.session = session
        self.packetEnded()
        self.decoder = self.configuration.parser.makeDecoder(
            version: session.version, limits: SocketIOLimits(maximumAttachments: self.configuration.maximumAttachments))
        self.root = SocketIORootAdmission(version: session.version)
        for namespace in self.all { namespace.sessionOpened(session) }
    }

    func engine(_ connection: EngineIOClientConnection, received message: EngineIOMessage) {
        guard connection === self.engine else { return }
        do throws(SocketIOError) {
            self.packetBytes += message.readableBytes
            guard let packet = try self.decoder.received(message) else { return self.waitForAttachments() }
            let bytes = self.packetBytes
            self.packetEnded()
            let namespace = self.receiver(packet.namespace)
            if packet.namespace == "/", self.root.received(packet.content, isAwaited: namespace?.isConnecting == true) == .ignore { return }
            namespace?.received(packet.content, bytes: bytes)
        } catch {
            self.fail(EngineIOError(.malformedPacket, message: error.message, cause: error))
        }
    }

    func engineClosed(_ connection: EngineIOClientConnection, error: EngineIOError) {
        guard connection === self.engine else { return }
        self.engine = nil
        self.session = nil
        self.packetEnded()
        if error.code == .unsupportedVersion, self.configuration.engine.version != .automatic { return self.giveUpVersion(error) }
        let next = self.reconnection.lost(at: self.now, using: &self.generator)
        let failure = SocketIOError(.transport, message: "the connection to the server failed: \(error.message)", cause: error)
        // The timer stands before the listeners hear: one of them may stop it.
        if case .retry(let delay, _) = next {
            self.logger.debug("Connecting again", metadata: ["after": "\(delay)", "reason": "\(error.code)"])
            self.retryTimer = self.eventLoop.scheduleTask(in: TimeAmount(delay)) { [weak self] in
                guard let self, case .connect(let attempt) = self.reconnection.timerFired() else { return }
                self.retry(attempt)
            }
        }
        for namespace in self.all { namespace.sessionLost(error, failure: failure) }
        if case .giveUp = next {
            self.stopWatching()
            for namespace in self.all { namespace.gaveUp(failure, isFinal: true) }
        }
    }

    func engine(_ connection: EngineIOClientConnection, happened event: EngineIOClientEvent) {
        guard connection === self.engine else { return }
        let told: SocketLifecycleEvent
        switch event {
        case .ping: told = .ping
        case .pong(let roundTrip):
            if let roundTrip { self.measuredLatency.withLockedValue { $0 = roundTrip } }
            told = .pong(latency: roundTrip)
        case .roundTrip(let roundTrip): return self.measuredLatency.withLockedValue { $0 = roundTrip }
        case .upgrade: told = .upgrade
        case .upgradeError(let error):
            told = .upgradeError(SocketIOError(.transport, message: "no WebSocket could be had: \(error.message)", cause: error))
        }
        for namespace in self.all where namespace.isActive { namespace.report(told) }
    }

    func retry(_ attempt: Int) {
        self.retryTimer?.cancel()
        for namespace in self.all { namespace.report(.reconnectAttempt(attempt)) }
        // A listener may have left: then the machine is idle.
        guard self.reconnection.isActive, self.engine == nil else { return }
        self.connect()
    }
}
