import DequeModule
package import NIOCore

/// One client's session as the server sees it: which transport carries it, what waits for the next poll, how it upgrades.
///
/// A session begins on polling or on WebSocket. A polling session may upgrade once:
///
///     polling ──probe opened──▶ polling + probe ──"2probe"──▶ probed ──"5"──▶ webSocket
///        ▲                            │ anything else, or the upgrade timeout
///        └────────────────────────────┘   (the probe is closed, the session goes on)
///
/// Until the client's `5` every packet still travels by polling.
///
/// Source: Engine.IO protocol v4, "Transports" and "Upgrade"; the reference server for what the document leaves open.
package struct EngineIOServerSession {
    enum Probe {
        case none
        /// A WebSocket with this session's id is open and silent. Leaves to `probed` or `none`.
        case opened
        /// `2probe` was answered. Leaves to `none` (upgrade done, or the probe is gone).
        case probed
    }

    enum State {
        /// Leaves to `webSocket` (upgrade) or `closed`.
        case polling(Polling)
        case webSocket
        /// We closed, and what was sent before waits for the client's next poll. Leaves to `closed`.
        case farewell(Deque<EngineIOPacket>)
        /// Final.
        case closed
        case modifying

        var isWebSocket: Bool {
            switch self {
            case .webSocket: true
            case .polling, .farewell, .closed, .modifying: false
            }
        }
    }

    struct Polling {
        var queue: Deque<EngineIOPacket> = []
        var queuedBytes = 0
        var pollIsHeld = false
        var probe = Probe.none

        mutating func takeQueue(most maximum: Int) -> [EngineIOPacket] {
            let packets = self.queue.prefix(maximum).map { $0 }  // not `Array(…)`: ThreadSanitizer, see `WebSocketInboxStateMachine`
            self.queue.removeFirst(packets.count)
            self.queuedBytes -= packets.reduce(0) { $0 + $1.queuedBytes }
            return packets
        }
    }

    var state: State {
        didSet { self.isOnWebSocket = self.state.isWebSocket }
    }
    /// Whether a WebSocket carries the session: messages go straight to the layer above, and what that sends straight out.
    ///
    /// Kept beside the state because every message asks: another module would copy all of the state for the question.
    package private(set) var isOnWebSocket: Bool
    private let version: EngineIOVersion
    let maximumQueuedBytes: Int
    let maximumPacketsPerAnswer: Int

    /// - Parameters:
    ///   - version: What the client speaks.
    ///   - transport: The transport of the handshake request.
    ///   - maximumQueuedBytes: The bound on what waits for a poll. Over it the session closes with `transport error`.
    ///   - maximumPacketsPerAnswer: The most packets that one poll brings; the rest waits for the next.
    package init(version: EngineIOVersion, transport: EngineIOTransport, maximumQueuedBytes: Int, maximumPacketsPerAnswer: Int) {
        self.version = version
        self.maximumPacketsPerAnswer = maximumPacketsPerAnswer
        self.maximumQueuedBytes = maximumQueuedBytes
        switch transport {
        case .polling: self.state = .polling(Polling())
        case .webSocket: self.state = .webSocket
        }
        self.isOnWebSocket = self.state.isWebSocket
    }

    package var isClosed: Bool {
        switch self.state {
        case .closed, .farewell: true
        case .polling, .webSocket, .modifying: false
        }
    }

    /// Whether a closed session still has something to say to the next poll.
    package var hasFarewell: Bool {
        if case .farewell = self.state { true } else { false }
    }

    /// Whether something waits for the next poll.
    package var hasQueue: Bool {
        switch self.state {
        case .polling(let polling): !polling.queue.isEmpty
        case .farewell: true
        case .webSocket, .closed, .modifying: false
        }
    }

    /// Bytes that wait for the next poll.
    package var queuedBytes: Int {
        if case .polling(let polling) = self.state { polling.queuedBytes } else { 0 }
    }

    package var transport: EngineIOTransport? {
        switch self.state {
        case .polling: .polling
        case .webSocket: .webSocket
        case .closed, .farewell, .modifying: nil
        }
    }

    // MARK: Polling

    package enum PollAction: Equatable {
        /// Answer this request now.
        case respond([EngineIOPacket])
        /// Keep the request open until there is something to say.
        case hold
        /// The request breaks the protocol: 400. `close` says whether the session ends with it.
        case refuse(close: EngineIOCloseReason?, answerHeldPoll: [EngineIOPacket])
    }

    /// A GET arrived for this session.
    package mutating func receivedPoll() -> PollAction {
        switch exchange(&self.state, with: .modifying) {
        case .polling(var polling):
            guard !polling.pollIsHeld else {
                // "overlapping GETs on one sid close the session"; the pending poll gets a close packet.
                self.state = .closed
                return .refuse(close: .transportError, answerHeldPoll: [.close])
            }
            if polling.queue.isEmpty {
                polling.pollIsHeld = true
                self.state = .polling(polling)
                return .hold
            }
            let packets = polling.takeQueue(most: self.maximumPacketsPerAnswer)
            self.state = .polling(polling)
            return .respond(packets)
        case .webSocket:
            self.state = .webSocket
            return .refuse(close: nil, answerHeldPoll: [])
        case .farewell(let packets):
            return .respond(self.takeFarewell(packets, most: self.maximumPacketsPerAnswer))
        case .closed, .modifying:
            self.state = .closed
            return .refuse(close: nil, answerHeldPoll: [])
        }
    }

    /// The connection of a held poll went away before it was answered. Answers whether the session ends with it.
    package mutating func heldPollClosed() -> EngineIOCloseReason? {
        guard case .polling(let polling) = self.state, polling.pollIsHeld else { return nil }
        self.state = .closed
        return .transportClose
    }

    // MARK: Packets in

    package enum ReceivedAction: Equatable {
        case deliver(EngineIOMessage)
        /// The answer to our ping.
        case receivedPong
        /// The client's own heartbeat: answer with a pong of the same payload.
        case receivedPing(ByteBuffer)
        /// The session ends; a held poll is answered with these packets first.
        case closeSession(EngineIOCloseReason, answerHeldPoll: [EngineIOPacket])
        case ignore
    }

    /// A packet arrived by the session's own transport.
    package mutating func received(_ packet: EngineIOPacket) -> ReceivedAction {
        guard !self.isClosed else { return .ignore }
        switch packet {
        case .message(let message): return .deliver(message)
        case .pong where self.version.heartbeatSender == .server: return .receivedPong
        case .ping(let payload) where self.version.heartbeatSender == .client: return .receivedPing(payload)
        case .close:
            // "a poll ended by the client's own close gets `6` with 200"
            return .closeSession(.transportClose, answerHeldPoll: self.close() ? [.noop] : [])
        case .ping, .pong, .open, .upgrade:
            // Only a server opens, a heartbeat has one direction, and an upgrade packet belongs to a probe.
            return .closeSession(.parseError, answerHeldPoll: self.close() ? [.close] : [])
        case .noop: return .ignore
        }
    }
}
