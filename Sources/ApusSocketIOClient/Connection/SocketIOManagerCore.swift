import ApusBytes
import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOProtocol
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The connection of a manager: connects, reconnects, and dispatches packets to the namespaces.
///
/// Confined to its event loop.
final class SocketIOManagerCore {
    let eventLoop: any EventLoop
    let configuration: SocketIOManagerConfiguration
    let logger: Logger
    /// See ``SocketIOManager/latency``.
    private let latency: NIOLockedValueBox<Duration?>
    private let url: String
    private var namespaces: [UTF8Key: SocketIOClientNamespaceCore] = [:]
    private let reconnector: Reconnector

    /// The state that every packet accesses.
    private struct Hot {
        var engine: EngineIOClientConnection?
        /// The namespace `/`. It is also an element of `namespaces`, and is never removed.
        var rootNamespace: SocketIOClientNamespaceCore?
        var root = SocketIORootAdmission(version: .v5)
        var decoder: SocketIOParser.Decoder
        /// The number of bytes received of the current packet.
        var packetBytes = 0
        /// Whether the attachments of the current packet are received.
        var isInParts = false
    }

    /// Unchecked: accessed in single statements, never across a call to a listener.
    @exclusivity(unchecked) private var hot: Hot
    /// The state that persists across connections.
    private let memory = SessionCache()
    /// The deadline of the packet whose attachments are received, and the number of such packets.
    private lazy var attachments = PendingTable<Void>(on: self.eventLoop) { [weak self] _, _ in self?.attachmentsTimedOut() }
    private var packetsInParts = 0
    private var closeWaiters: [() -> Void] = []
    private var giveUpWaiters = LoopOperations<Void>()
    /// The number of closed connections that still have packets to send.
    private(set) var departing = 0
    /// The number of reconnection attempts up to the current connection; 0 for the first
    /// connection.
    private(set) var attempts = 0

    init(
        url: String, configuration: SocketIOManagerConfiguration, logger: Logger, latency: NIOLockedValueBox<Duration?>,
        eventLoop: any EventLoop
    ) {
        self.url = url
        self.configuration = configuration
        self.logger = logger
        self.eventLoop = eventLoop
        self.latency = latency
        self.hot = Hot(decoder: configuration.parser.makeDecoder())
        self.reconnector = Reconnector(
            policy: configuration.reconnection, network: configuration.network(for: Self.host(of: url)), on: eventLoop)
        self.reconnector.onAttempt = { [weak self] in self?.retry($0) }
    }

    /// Returns the host of a URL, to detect a server on this machine. Returns an empty string if
    /// there is no host.
    static func host(of url: String) -> String {
        let authority = (url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if authority.first == "[" { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    /// Adds a namespace, before it is used.
    func add(_ namespace: SocketIOClientNamespaceCore) {
        namespace.manager = self
        self.namespaces[UTF8Key(namespace.name)] = namespace
        if namespace.name == "/" { self.hot.rootNamespace = namespace }
    }

    /// Returns the namespace of a packet; `/` is the most common one.
    private func receiver(_ name: String) -> SocketIOClientNamespaceCore? {
        name == "/" ? self.hot.rootNamespace : self.namespaces[UTF8Key(name)]
    }

    private var all: [SocketIOClientNamespaceCore] {
        self.namespaces.values.sorted { $0.name < $1.name }
    }

    /// The open session, if any.
    private(set) var session: SocketIOClientSession?

    /// Whether a packet can be sent without queueing.
    var isWritable: Bool { self.hot.engine?.isWritable ?? false }

    // MARK: - Connecting

    /// Starts connecting, unless the manager is connecting or connected already.
    func start() {
        if case .connect = self.reconnector.start() { self.connect() }
    }

    private func connect() {
        self.attempts = self.reconnector.attempt
        self.session = nil
        do throws(SocketIOError) {
            let engine = try self.makeEngine()
            self.hot.engine = engine
            engine.start()
        } catch {
            // The settings are invalid, so another attempt would fail too.
            self.reconnector.stop()
            self.giveUp(error, isFinal: false)
        }
    }

    private func makeEngine() throws(SocketIOError) -> EngineIOClientConnection {
        try self.configuration.validate()
        do throws(EngineIOError) {
            return try EngineIOClientConnection(
                url: self.url, configuration: self.configuration.engine, memory: self.memory, eventLoop: self.eventLoop,
                logger: self.logger, delegate: self)
        } catch {
            throw SocketIOError(.invalidUse, message: error.message, cause: error)
        }
    }

    /// Records that a namespace was joined.
    func joined() {
        self.reconnector.opened()
    }

    /// Closes the connection if no namespace is open.
    ///
    /// - Parameter failure: The error if the server closed the last namespace; `nil` if the
    ///   application closed it.
    func closeIfUnused(after failure: SocketIOError?) {
        guard !self.all.contains(where: { $0.isActive }) else { return }
        self.stop()
        if let failure { self.gaveUp(failure) }
    }

    /// Closes all namespaces after connecting has stopped.
    private func giveUp(_ failure: SocketIOError, isFinal: Bool) {
        for namespace in self.all { namespace.gaveUp(failure, isFinal: isFinal) }
        // A listener may have opened a namespace again.
        if !self.all.contains(where: { $0.isActive }) { self.gaveUp(failure) }
    }

    private func gaveUp(_ failure: SocketIOError) {
        for waiter in self.giveUpWaiters.takeAll() { waiter.fail(failure) }
    }

    /// Fails the operation when the last open namespace closes, unless the application closes it.
    func waitUntilGivenUp(_ operation: LoopOperation<Void>) { self.giveUpWaiters.append(operation) }

    /// Disconnects all namespaces and closes the connection.
    ///
    /// - Parameter departed: The closure to call once, when all earlier packets have been sent or
    ///   cannot be sent.
    func disconnectAll(departed: (() -> Void)? = nil) {
        if let departed { self.closeWaiters.append(departed) }
        for namespace in self.all { namespace.disconnect() }
        self.stop()
    }

    private func stop() {
        self.reconnector.stop()
        self.packetEnded()
        let engine = self.hot.engine
        self.hot.engine = nil  // first, to ignore its closing events
        self.session = nil
        if let engine { self.closeEngine(engine, EngineIOError(.closed, message: "the client closed the connection")) }
        self.notifyCloseWaiters()
    }

    /// Closes a connection after it has sent its queue.
    private func closeEngine(_ engine: EngineIOClientConnection, _ error: EngineIOError) {
        self.departing += 1
        engine.close(error) {
            self.departing -= 1
            self.notifyCloseWaiters()
        }
    }

    private func notifyCloseWaiters() {
        guard self.departing == 0 else { return }
        for waiter in exchange(&self.closeWaiters, with: []) { waiter() }
    }

    /// Connects now: cancels the reconnection delay, or replaces the open connection.
    func reconnect() {
        let wanted = self.all.filter { $0.isActive }
        guard !wanted.isEmpty else { return }
        if let engine = self.hot.engine { self.closeEngine(engine, EngineIOError(.closed, message: "`reconnect()` closed the connection")) }
        self.reconnector.retryNow()
        // Opens the namespaces that were closed because the policy permits no reconnection.
        for namespace in wanted where !namespace.isActive { namespace.connect() }
    }

    /// Handles a CONNECT in the format of Socket.IO 2.x. A server of Socket.IO 2.x answers any
    /// requested version with its own.
    func serverIsVersion4() {
        guard let engine = self.hot.engine else { return }
        let error = EngineIOError(.unsupportedVersion, message: "the server uses Engine.IO 3, but the client requested version 4")
        guard self.configuration.engine.version == .automatic, self.memory.recognizedVersion == nil else {
            self.stop()
            return self.giveUpVersion(error)
        }
        self.logger.debug("Reconnecting with Engine.IO 3")
        self.memory.recognizedVersion = .v3
        self.hot.engine = nil
        self.packetEnded()
        self.closeEngine(engine, error)
        for namespace in self.all { namespace.sessionReplaced() }
        self.connect()
    }

    /// Stops connecting: the server does not support the configured version.
    private func giveUpVersion(_ error: EngineIOError) {
        self.reconnector.stop()
        let message =
            self.configuration.engine.version == .v3
            ? "the server does not support Engine.IO 3, the protocol of Socket.IO 2.x; set `version` to .v4 or .automatic"
            : "the server uses Engine.IO 3, the protocol of Socket.IO 2.x; set `version` to .v3 or .automatic"
        self.giveUp(SocketIOError(.unsupportedVersion, message: message, cause: error), isFinal: false)
    }

    /// Closes the current connection with an error.
    func fail(_ error: EngineIOError) {
        self.hot.engine?.close(error)
    }

    // MARK: - Packets

    /// Returns whether the server connects the client to this namespace without a request.
    func joinsImplicitly(_ namespace: String) -> Bool { namespace == "/" && self.session?.version.joinsRootImplicitly == true }

    /// Sends DISCONNECT for a namespace.
    func leave(_ namespace: SocketIOClientNamespaceCore) {
        if namespace.name == "/" { self.hot.root.left() }
        guard let packet = try? self.encode(SocketIOPacket(namespace: namespace.name, content: .disconnect)) else {
            return
        }
        _ = self.send(packet)
    }

    /// Sends CONNECT for a namespace, unless the server connects the client without it.
    func join(_ namespace: SocketIOClientNamespaceCore, auth: SocketIOValue?) throws(SocketIOError) {
        guard let version = self.session?.version else { return }
        let connect = try self.encode(version.request(namespace: namespace.name, auth: auth))
        switch namespace.name == "/" ? self.hot.root.requested() : .ask {
        case .ask: _ = self.send(connect)
        case .wait: break
        case .enter: namespace.receivedPacket(.connect(nil), bytes: 0)
        }
    }

    /// Encodes a packet as messages.
    func encode(_ packet: SocketIOPacket) throws(SocketIOError) -> [EngineIOMessage] {
        try self.configuration.parser.encode(packet)
    }

    /// Sends the messages of a packet, all or none. Returns `false` if the queue is full or there
    /// is no session.
    func send(_ packet: [EngineIOMessage], isCompressed: Bool = true) -> Bool {
        guard let engine = self.hot.engine else { return false }
        return engine.send(packet, compresses: isCompressed)
    }

    /// Starts a single deadline for all attachments of a packet, so that slow progress does not
    /// extend it.
    private func waitForAttachments() {
        guard !self.hot.isInParts else { return }
        self.hot.isInParts = true
        self.packetsInParts += 1
        self.attachments.add((), id: self.packetsInParts, endingIn: self.configuration.attachmentsTimeout)
    }

    private func attachmentsTimedOut() {
        let timeout = self.configuration.attachmentsTimeout
        self.fail(
            EngineIOError(.malformedPacket, message: "the attachments of a packet did not arrive within \(timeout) (`attachmentsTimeout`)"))
    }

    /// Prepares for the next packet.
    private func packetEnded() {
        self.hot.packetBytes = 0
        guard self.hot.isInParts else { return }
        self.hot.isInParts = false
        _ = self.attachments.take(self.packetsInParts)
    }
}

extension SocketIOManagerCore: EngineIOClientDelegate {
    func engineOpened(_ connection: EngineIOClientConnection, handshake: EngineIOHandshake) {
        guard connection === self.hot.engine else { return }
        let session = SocketIOClientSession(version: SocketIOVersion(over: connection.version), id: handshake.sid)
        self.session = session
        self.packetEnded()
        self.hot.decoder = self.configuration.parser.makeDecoder(
            version: session.version, limits: SocketIOLimits(maximumAttachments: self.configuration.maximumAttachments))
        self.hot.root = SocketIORootAdmission(version: session.version)
        for namespace in self.all { namespace.sessionOpened(session) }
    }

    func engine(_ connection: EngineIOClientConnection, received message: EngineIOMessage) {
        guard connection === self.hot.engine else { return }
        do throws(SocketIOError) {
            self.hot.packetBytes += message.readableBytes
            guard let packet = try self.hot.decoder.received(message) else { return self.waitForAttachments() }
            let bytes = self.hot.packetBytes
            self.packetEnded()
            let namespace = self.receiver(packet.namespace)
            let isAwaited = namespace?.isConnecting == true
            if packet.namespace == "/", self.hot.root.receivedPacket(packet.content, isAwaited: isAwaited) == .ignore { return }
            namespace?.receivedPacket(packet.content, bytes: bytes)
        } catch {
            self.fail(EngineIOError(.malformedPacket, message: error.message, cause: error))
        }
    }

    func engineClosed(_ connection: EngineIOClientConnection, error: EngineIOError) {
        guard connection === self.hot.engine else { return }
        self.hot.engine = nil
        self.session = nil
        self.packetEnded()
        if error.code == .unsupportedVersion, self.configuration.engine.version != .automatic { return self.giveUpVersion(error) }
        // Starts the timer before the listeners are called, because one of them may stop it.
        let next = self.reconnector.lost()
        let failure = SocketIOError(.transport, message: "the connection to the server failed: \(error.message)", cause: error)
        if case .retry(let delay, _) = next {
            self.logger.debug("Reconnecting", metadata: ["after": "\(delay)", "reason": "\(error.code)"])
        }
        for namespace in self.all { namespace.sessionLost(error, failure: failure) }
        if case .giveUp = next { self.giveUp(failure, isFinal: true) }
    }

    func engine(_ connection: EngineIOClientConnection, happened event: EngineIOClientEvent) {
        guard connection === self.hot.engine else { return }
        let lifecycleEvent: SocketIOClientLifecycleEvent
        switch event {
        case .ping: lifecycleEvent = .ping
        case .pong(let roundTrip):
            if let roundTrip { self.latency.withLockedValue { $0 = roundTrip } }
            lifecycleEvent = .pong(latency: roundTrip)
        case .roundTrip(let roundTrip): return self.latency.withLockedValue { $0 = roundTrip }
        case .upgrade: lifecycleEvent = .upgrade
        case .upgradeError(let error):
            lifecycleEvent = .upgradeError(
                SocketIOError(.transport, message: "the upgrade to another transport failed: \(error.message)", cause: error))
        }
        for namespace in self.all where namespace.isActive { namespace.report(lifecycleEvent) }
    }

    private func retry(_ attempt: Int) {
        for namespace in self.all { namespace.report(.reconnectAttempt(attempt)) }
        // Do not connect if a listener disconnected the last namespace.
        guard self.reconnector.isActive, self.hot.engine == nil else { return }
        self.connect()
    }
}

@available(*, unavailable)
extension SocketIOManagerCore: Sendable {}
