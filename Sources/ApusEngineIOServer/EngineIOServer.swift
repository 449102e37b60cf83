import ApusConnectivity
import ApusEngineIOProtocol
import ApusWebSocket
import HTTPTypes
package import Logging
import NIOConcurrencyHelpers
package import NIOCore

/// Owns the sessions of one Engine.IO endpoint and finds them by id. The HTTP handlers of every connection share it.
///
/// Source: Engine.IO protocol v4.
package final class EngineIOServer: Sendable {
    package let configuration: EngineIOServerConfiguration
    let logger: Logger
    private let makeDelegate: @Sendable (EngineIOSession) -> any EngineIOSessionDelegate
    let state: NIOLockedValueBox<State>
    let budgets: ConnectionBudgets
    let buffers: PerEventLoop<WebSocketBuffers>
    let timers = PerEventLoop { EventLoopTimers(on: $0) }
    let scratches = PerEventLoop { _ in TextBufferPool() }

    struct State: DrainState {
        /// Who is let in.
        var clients: ConnectionQuota
        /// The connections of a server that listens by itself: two for each polling client.
        var transports: ConnectionQuota
        var sessions: [EngineIOID: EngineIOSession] = [:]
        /// Closed sessions whose last packets wait for a poll.
        var leaving: [EngineIOID: EngineIOSession] = [:]
        /// WebSockets of closed sessions that have not ended.
        var lingering: [ObjectIdentifier: EngineIOWebSocketTransport] = [:]
        var drainWaiters: [CheckedContinuation<Void, Never>] = []

        var isEmpty: Bool { self.sessions.isEmpty && self.leaving.isEmpty && self.lingering.isEmpty }
    }

    /// - Parameter makeDelegate: Called on the session's event loop for every new session, before its first packet.
    package init(
        configuration: EngineIOServerConfiguration, logger: Logger,
        makeDelegate: @escaping @Sendable (EngineIOSession) -> any EngineIOSessionDelegate
    ) {
        self.configuration = configuration
        self.logger = logger
        self.makeDelegate = makeDelegate
        let budgets = ConnectionBudgets(unfinished: configuration.maximumUnfinishedBytes, queued: configuration.maximumQueuedBytesInAll)
        let queueLowMark = configuration.effectiveQueueLowMark
        self.budgets = budgets
        self.buffers = PerEventLoop { _ in WebSocketBuffers(queueLowMark: queueLowMark, budgets: budgets) }
        self.state = NIOLockedValueBox(
            State(
                clients: ConnectionQuota(
                    maximum: configuration.maximumClients, maximumPerAddress: configuration.maximumClientsPerAddress),
                transports: .transports(
                    for: configuration.maximumClients.doubled, perAddress: configuration.maximumClientsPerAddress.doubled)))
    }

    /// A handler for one connection. It answers requests under the configured path and passes every other request on.
    ///
    /// - Parameters:
    ///   - isSecure: Whether the connection uses TLS.
    ///   - isAlone: Whether no web server stands around it, so that it watches the connection between requests as well.
    ///   - passing: The deadlines of requests that are passed on, when it is alone; `nil` for those that are answered at once.
    ///   - firstDeadline: When the first request must be whole, if that time runs already.
    package func makeHTTPHandler(
        isSecure: Bool = false, isAlone: Bool = false, passing: PassThroughTimeouts? = nil, firstDeadline: NIODeadline? = nil
    ) -> EngineIOHTTPHandler {
        EngineIOHTTPHandler(server: self, isSecure: isSecure, isAlone: isAlone, passing: passing, firstDeadline: firstDeadline)
    }

    /// The sessions that are open now.
    package var sessionCount: Int { self.state.withLockedValue { $0.sessions.count } }

    func session(_ sid: String) throws(EngineIOError) -> EngineIOSession {
        guard let id = EngineIOID(sid), let session = self.state.withLockedValue({ $0.sessions[id] ?? $0.leaving[id] }) else {
            throw EngineIOError(.sessionUnknown, message: "Session ID unknown")
        }
        return session
    }

    /// Makes a session; the caller is on `eventLoop`.
    func open(
        _ transport: EngineIOTransport, version: EngineIOVersion, request: HTTPRequest, remoteAddress: SocketAddress?,
        on eventLoop: any EventLoop
    ) throws(EngineIOError) -> EngineIOSession {
        let addressKey: String? =
            if let name = self.configuration.clientAddress { name(request, remoteAddress) } else {
                ClientAddress.key(of: remoteAddress)
            }
        guard !self.budgets.areScarce else { throw EngineIOError(.unavailable, message: "Server has no memory for another client") }
        let session = EngineIOSession(
            id: EngineIOID.random(), version: version, transport: transport, request: request, remoteAddress: remoteAddress,
            addressKey: addressKey, server: self, timers: self.timers.value(on: eventLoop),
            scratch: self.scratches.value(on: eventLoop), eventLoop: eventLoop)
        let refusal = self.state.withLockedValue { state in
            let refusal = state.clients.opened(from: addressKey)
            if refusal == nil { state.sessions[session.id] = session }
            return refusal
        }
        switch refusal {
        case .full: throw EngineIOError(.unavailable, message: "Server is full")
        case .draining: throw EngineIOError(.unavailable, message: "Server is shutting down")
        case .addressFull: throw EngineIOError(.tooManyClients, message: "Too many clients from this address")
        case nil: break
        }
        session.start(delegate: self.makeDelegate(session))
        return session
    }

    /// Tells the application that a request was refused.
    func report(_ error: EngineIOError, to request: HTTPRequest) {
        self.configuration.onConnectionError?(
            EngineIOConnectionError(request: request, number: error.httpRefusal?.number ?? 3, error: error))
    }

    /// Counts a connection until it closes. `false`: there are more than all clients could need; close it at once.
    package func admit(_ channel: any Channel) -> Bool {
        // Behind a proxy its address says nothing.
        let key = self.configuration.clientAddress == nil ? ClientAddress.key(of: channel.remoteAddress) : nil
        guard self.state.withLockedValue({ $0.transports.opened(from: key) }) == nil else { return false }
        channel.closeFuture.whenComplete { _ in self.state.withLockedValue { $0.transports.closed(from: key) } }
        return true
    }

    // MARK: Leaving

    /// The session is closed, and nothing of it is left to say.
    func forget(_ session: EngineIOSession) {
        self.state.update { state in
            state.closed(session)
            state.leaving[session.id] = nil
        }
    }

    /// The session is closed, and is to be found for one more poll.
    func keepForFarewell(_ session: EngineIOSession) {
        self.state.update { state in
            guard state.closed(session), state.leaving.count < self.configuration.maximumClients else { return }
            state.leaving[session.id] = session
        }
    }

    /// The session is closed; its WebSocket has to say goodbye.
    func linger(_ webSocket: EngineIOWebSocketTransport) {
        self.state.withLockedValue { $0.lingering[ObjectIdentifier(webSocket)] = webSocket }
    }

    /// A WebSocket has ended.
    func left(_ webSocket: EngineIOWebSocketTransport) {
        self.state.update { $0.lingering[ObjectIdentifier(webSocket)] = nil }
    }
}

extension EngineIOServer.State {
    /// Takes a session out of those that are counted. `false`: it was out already.
    @discardableResult fileprivate mutating func closed(_ session: EngineIOSession) -> Bool {
        guard self.sessions.removeValue(forKey: session.id) != nil else { return false }
        self.clients.closed(from: session.addressKey)
        return true
    }
}

extension EngineIOServerConfiguration {
    /// The bound must not come first: a client would be disconnected before it is slowed down.
    var effectiveQueueLowMark: Int { min(self.queueLowMark, max(1, self.maximumQueuedBytes / 2)) }
}

extension Int {
    /// Twice as many, or as many as there can be.
    fileprivate var doubled: Int { self > Int.max / 2 ? Int.max : self * 2 }
}
