package import ApusConnectivity
import ApusEngineIOProtocol
import ApusEventLoop
import ApusWebSocket
import HTTPTypes
package import Logging
package import NIOConcurrencyHelpers
package import NIOCore
package import NIOSSL

/// Stores the sessions of one Engine.IO endpoint by id. Shared by the HTTP handlers of all
/// connections.
///
/// Source: Engine.IO protocol v4.
package final class EngineIOServer: Sendable {
    package let configuration: EngineIOServerConfiguration
    let logger: Logger
    private let makeDelegate: @Sendable (EngineIOSession) -> any EngineIOSessionDelegate
    package let state: NIOLockedValueBox<State>
    let budgets: ConnectionBudgets
    let buffers: PerEventLoop<WebSocketBuffers>
    let timers = PerEventLoop { EventLoopTimers(on: $0) }
    let scratches = PerEventLoop { _ in TextBufferPool() }

    package struct State: DrainState {
        /// Counts the clients.
        var clients: ConnectionQuota
        /// Counts the connections to the server's own listener, two for each polling client.
        var channels: ConnectionQuota
        var sessions: [RandomID: EngineIOSession] = [:]
        /// Closed sessions whose last packets await a poll.
        var closingSessions: [RandomID: EngineIOSession] = [:]
        /// WebSockets of closed sessions whose closing handshake is not complete.
        var closingWebSockets: [ObjectIdentifier: EngineIOWebSocketTransport] = [:]
        package var drainWaiters: [CheckedContinuation<Void, Never>] = []

        package var isEmpty: Bool { self.sessions.isEmpty && self.closingSessions.isEmpty && self.closingWebSockets.isEmpty }
        package var openConnections: [EngineIOSession] { Array(self.sessions.values) }

        package mutating func refuseNewConnections() { self.clients.drain() }
    }

    /// - Parameter makeDelegate: Creates the delegate of a new session, before its first packet.
    ///   Called on the session's event loop.
    package init(
        configuration: EngineIOServerConfiguration, logger: Logger,
        makeDelegate: @escaping @Sendable (EngineIOSession) -> any EngineIOSessionDelegate
    ) {
        self.configuration = configuration
        self.logger = logger
        self.makeDelegate = makeDelegate
        let budgets = ConnectionBudgets(unfinished: configuration.maximumUnfinishedBytes, queued: configuration.maximumTotalQueuedBytes)
        let queueLowMark = configuration.effectiveQueueLowMark
        self.budgets = budgets
        self.buffers = PerEventLoop { _ in WebSocketBuffers(queueLowMark: queueLowMark, budgets: budgets) }
        self.state = NIOLockedValueBox(
            State(
                clients: ConnectionQuota(
                    maximum: configuration.maximumClients, maximumPerAddress: configuration.maximumClientsPerAddress),
                channels: .channels(
                    for: configuration.maximumClients.doubled, perAddress: configuration.maximumClientsPerAddress.doubled)))
    }

    /// Creates the handler for one connection. The handler answers requests under the configured
    /// path and passes other requests on.
    ///
    /// - Parameters:
    ///   - isSecure: Whether the connection uses TLS.
    ///   - isAlone: Whether the handler enforces all deadlines of the connection, because no web
    ///     framework does.
    ///   - passing: The deadlines of requests that are passed on, if `isAlone`; `nil` if the next
    ///     handler answers them immediately.
    ///   - firstDeadline: The deadline of the first request, if it is already running.
    package func makeHTTPHandler(
        isSecure: Bool = false, isAlone: Bool = false, passing: PassThroughTimeouts? = nil, firstDeadline: NIODeadline? = nil
    ) -> EngineIOHTTPHandler {
        EngineIOHTTPHandler(server: self, isSecure: isSecure, isAlone: isAlone, passing: passing, firstDeadline: firstDeadline)
    }

    /// The number of open sessions.
    package var sessionCount: Int { self.state.withLockedValue { $0.sessions.count } }

    func session(_ sid: String) throws(EngineIOError) -> EngineIOSession {
        guard let id = RandomID(sid), let session = self.state.withLockedValue({ $0.sessions[id] ?? $0.closingSessions[id] }) else {
            throw EngineIOError(.sessionUnknown, message: "Session ID unknown")
        }
        return session
    }

    /// Creates a session. Called on `eventLoop`.
    func open(
        _ transport: EngineIOTransport, version: EngineIOVersion, request: HTTPRequest, remoteAddress: SocketAddress?,
        on eventLoop: any EventLoop
    ) throws(EngineIOError) -> EngineIOSession {
        let addressKey: String? =
            if let name = self.configuration.clientAddress { name(request, remoteAddress) } else {
                ClientAddress.key(of: remoteAddress)
            }
        guard !self.budgets.areNearlyFull else {
            throw EngineIOError(
                .unavailable, message: "the server has no memory for another client (`maximumUnfinishedBytes`, `maximumTotalQueuedBytes`)")
        }
        let session = EngineIOSession(
            id: RandomID.random(), version: version, transport: transport, request: request, remoteAddress: remoteAddress,
            addressKey: addressKey, server: self, timers: self.timers.value(on: eventLoop),
            scratch: self.scratches.value(on: eventLoop), eventLoop: eventLoop)
        let refusal = self.state.withLockedValue { state in
            let refusal = state.clients.opened(from: addressKey)
            if refusal == nil { state.sessions[session.id] = session }
            return refusal
        }
        switch refusal {
        case .full:
            let maximum = self.configuration.maximumClients
            throw EngineIOError(.unavailable, message: "the server already has \(maximum) clients (`maximumClients`)")
        case .draining:
            throw EngineIOError(.unavailable, message: "the server is shutting down")
        case .addressFull:
            let maximum = self.configuration.maximumClientsPerAddress
            throw EngineIOError(
                .tooManyClients, message: "this address already has \(maximum) clients (`maximumClientsPerAddress`)")
        case nil: break
        }
        session.start(delegate: self.makeDelegate(session))
        return session
    }

    /// Reports a refused request to the application.
    func report(_ error: EngineIOError, to request: HTTPRequest) {
        self.configuration.onConnectionError?(
            EngineIOConnectionError(request: request, number: error.httpRefusal?.number ?? 3, error: error))
    }

    /// Counts a connection until it closes. Returns `false` if a limit is reached; the caller must
    /// then close the connection.
    package func admit(_ channel: any Channel) -> Bool {
        self.admit(channel, countsAddress: self.configuration.clientAddress == nil, in: \.channels)
    }

    // MARK: Closing

    /// Removes a closed session that has no packets left.
    func forget(_ session: EngineIOSession) {
        self.state.update { state in
            state.closed(session)
            state.closingSessions[session.id] = nil
        }
    }

    /// Retains a closed session for the polls that fetch its last packets, unless `maximumClients`
    /// closed sessions are already retained.
    func keepUntilPolled(_ session: EngineIOSession) {
        self.state.update { state in
            guard state.closed(session), state.closingSessions.count < self.configuration.maximumClients else { return }
            state.closingSessions[session.id] = session
        }
    }

    /// Retains the WebSocket of a closed session until its closing handshake is complete.
    func keepUntilClosed(_ webSocket: EngineIOWebSocketTransport) {
        self.state.withLockedValue { $0.closingWebSockets[ObjectIdentifier(webSocket)] = webSocket }
    }

    /// Removes a WebSocket that has closed.
    func webSocketClosed(_ webSocket: EngineIOWebSocketTransport) {
        self.state.update { $0.closingWebSockets[ObjectIdentifier(webSocket)] = nil }
    }
}

extension EngineIOServer.State {
    /// Removes an open session. Returns `false` if it was not open.
    @discardableResult fileprivate mutating func closed(_ session: EngineIOSession) -> Bool {
        guard self.sessions.removeValue(forKey: session.id) != nil else { return false }
        self.clients.closed(from: session.addressKey)
        return true
    }
}

extension EngineIOServerConfiguration {
    /// The effective low mark: below the limit, so that back-pressure precedes disconnection.
    var effectiveQueueLowMark: Int { min(self.queueLowMark, max(1, self.maximumQueuedBytes / 2)) }
}

extension Int {
    /// Twice the value; `Int.max` if it overflows.
    fileprivate var doubled: Int { self > Int.max / 2 ? Int.max : self * 2 }
}

extension EngineIOServer {
    /// Refuses new clients, closes the sessions and waits until their connections have closed.
    ///
    /// Sessions are notified in batches, in random order and at varying intervals, so that clients
    /// do not all reconnect at the same moment. Remaining connections are closed after
    /// `drainTimeout`. Cancelling the calling task does not shorten the shutdown.
    package func shutdown() async { await self.drain() }
}

extension EngineIOServer: ServerShell {
    package var drainSchedule: DrainSchedule {
        DrainSchedule(
            timeout: self.configuration.drainTimeout, batchSize: self.configuration.drainBatchSize, gap: self.configuration.drainBatchGap)
    }

    package func validate() throws { try self.configuration.validate() }

    package func configure(_ channel: any Channel, tls: NIOSSLContext?) throws {
        guard self.admit(channel) else {
            throw EngineIOError(
                .unavailable, message: "the server or this address has too many connections, or the server is shutting down")
        }
        try FastUpgradeHandler.fill(
            channel, tls: tls, for: self, timers: self.timers.value(on: channel.eventLoop),
            buffers: self.buffers.value(on: channel.eventLoop), timeout: self.configuration.requestTimeout)
    }

    package func startClosing(_ session: EngineIOSession) { session.eventLoop.runOnLoop { session.drain() } }

    package func cutAll() {
        let (sessions, webSockets) = self.state.withLockedValue { state in
            (Array(state.sessions.values) + state.closingSessions.values, Array(state.closingWebSockets.values))
        }
        for session in sessions { session.eventLoop.runOnLoop { session.cut() } }
        for webSocket in webSockets { webSocket.abort() }
    }
}
