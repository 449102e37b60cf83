import ApusEngineIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
import DequeModule
import NIOConcurrencyHelpers
import NIOCore

/// Carries messages between a WebSocket and a session on another event loop: in order, bounded, and with one hop for all that comes meanwhile.
final class CrossLoopFlowControl: Sendable {
    /// What a session tells its WebSocket.
    enum Order: Sendable {
        case message(WebSocketMessage)
        case frame(WebSocketSharedFrame)
        case close(WebSocketCloseCode)
        case abort

        var byteCount: Int {
            switch self {
            case .message(let message): message.payload.readableBytes
            case .frame(let frame): frame.plain.readableBytes
            case .close, .abort: 0
            }
        }
    }

    /// Above this the WebSocket stops reading; at half of it, it goes on.
    static let highWatermark = 1 << 20
    /// Bytes on their way to the WebSocket above which its transport counts as full. As many as a channel holds before it says so.
    static let orderWatermark = 64 << 10
    /// What a message takes beside its bytes, so that empty ones count too.
    fileprivate static let overhead = 256

    fileprivate struct State: Sendable {
        var messages: Deque<WebSocketMessage> = []
        var messageBytes = 0
        /// The session is going to ask for messages.
        var sessionIsCalled = false
        /// The session handles nothing until the client has taken what is queued for it.
        var sessionWaits = false
        var orders: [Order] = []
        /// Bytes of the orders that are not carried out.
        var orderBytes = 0
        /// The WebSocket is going to ask for orders.
        var webSocketIsCalled = false
        /// What waits in the transport.
        var transportBytes = 0
        var isWritable = true
    }

    private let state = NIOLockedValueBox(State())
    private let queueLowMark: Int

    /// - Parameter queueLowMark: Bytes queued for the client above which the session gets none of its messages.
    init(queueLowMark: Int) {
        self.queueLowMark = queueLowMark
    }

    // MARK: From the client

    /// A message leaves for the session.
    ///
    /// - Returns: Whether the session is to be called, and whether the WebSocket must stop reading.
    func depart(_ message: WebSocketMessage) -> (callsSession: Bool, isTooMuch: Bool) {
        self.state.withLockedValue { state in
            state.messages.append(message)
            state.messageBytes += message.payload.readableBytes + Self.overhead
            let calls = !state.sessionIsCalled && !state.sessionWaits
            if calls { state.sessionIsCalled = true }
            return (calls, state.messageBytes > Self.highWatermark)
        }
    }

    /// The next message for the session, and whether the WebSocket may read again because of it. `nil`: there is none, or the client has to take
    /// what is queued for it first; the session is called again.
    func arrive() -> (message: WebSocketMessage, makesRoom: Bool)? {
        self.state.withLockedValue { state -> (message: WebSocketMessage, makesRoom: Bool)? in
            if state.orderBytes + state.transportBytes > self.queueLowMark, !state.messages.isEmpty {
                state.sessionWaits = true
                state.sessionIsCalled = false
                return nil
            }
            return state.next()
        }
    }

    /// The same, whatever is queued: the WebSocket has gone.
    func arriveAtEnd() -> WebSocketMessage? { self.state.withLockedValue { $0.next()?.message } }

    /// Whether a WebSocket that stopped reading may go on.
    var hasRoom: Bool { self.state.withLockedValue { $0.hasRoom } }

    // MARK: To the client

    /// An order leaves for the WebSocket. Returns whether the WebSocket is to be called.
    func order(_ order: Order) -> Bool {
        self.state.withLockedValue { state in
            state.orders.append(order)
            state.orderBytes += order.byteCount
            defer { state.webSocketIsCalled = true }
            return !state.webSocketIsCalled
        }
    }

    /// What the WebSocket is to do. It says so when that is done: ``carriedOut(_:isWritable:queuedBytes:)``.
    func takeOrders() -> [Order] {
        self.state.withLockedValue { state in
            state.webSocketIsCalled = false
            return exchange(&state.orders, with: [])
        }
    }

    /// What the session is called for when the transport's queue has changed.
    struct Wakes: Equatable {
        /// The session may take the client's messages again.
        var resumes = false
        /// The WebSocket is writable, and was not.
        var drains = false
    }

    /// The transport was given what these orders hold, and holds this much now.
    func carriedOut(_ orders: [Order], isWritable: Bool, queuedBytes: Int) -> Wakes {
        let bytes = orders.reduce(0) { $0 + $1.byteCount }
        return self.state.withLockedValue { state in
            let wasWritable = state.takesMore
            state.orderBytes -= bytes
            return self.changed(&state, isWritable, queuedBytes, wasWritable)
        }
    }

    /// The WebSocket's transport holds this much now.
    func transportChanged(isWritable: Bool, queuedBytes: Int) -> Wakes {
        self.state.withLockedValue { state in self.changed(&state, isWritable, queuedBytes, state.takesMore) }
    }

    private func changed(_ state: inout State, _ isWritable: Bool, _ queuedBytes: Int, _ wasWritable: Bool) -> Wakes {
        state.isWritable = isWritable
        state.transportBytes = queuedBytes
        var wakes = Wakes(drains: !wasWritable && state.takesMore)
        if state.sessionWaits, state.orderBytes + queuedBytes <= self.queueLowMark / 2 {
            state.sessionWaits = false
            state.sessionIsCalled = true
            wakes.resumes = true
        }
        return wakes
    }

    /// Whether the WebSocket's transport takes more, with what is on its way there.
    var isWritable: Bool { self.state.withLockedValue { $0.takesMore } }
}

extension CrossLoopFlowControl.State {
    fileprivate var takesMore: Bool { self.isWritable && self.orderBytes <= CrossLoopFlowControl.orderWatermark }

    fileprivate var hasRoom: Bool { self.messageBytes <= CrossLoopFlowControl.highWatermark / 2 }

    fileprivate mutating func next() -> (message: WebSocketMessage, makesRoom: Bool)? {
        guard let message = self.messages.popFirst() else {
            self.sessionIsCalled = false
            return nil
        }
        let hadRoom = self.hasRoom
        self.messageBytes -= message.payload.readableBytes + CrossLoopFlowControl.overhead
        return (message, !hadRoom && self.hasRoom)
    }
}
