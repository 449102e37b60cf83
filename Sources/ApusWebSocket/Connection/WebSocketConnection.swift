import ApusEventLoop
import ApusWebSocketProtocol
public import HTTPTypes
import NIOConcurrencyHelpers
public import NIOCore

/// An open WebSocket connection of a client or a server.
///
/// ```swift
/// try await connection.send("hello")
/// for try await message in connection.messages { print(message) }
/// ```
///
/// There are two ways to receive: tasks read ``messages``, or ``onMessage(_:)`` calls a handler on
/// the event loop, without a lock, a task or a thread hop. There are two ways to send: ``send(_:)``
/// waits for room, and ``post(_:)`` does not wait and is bounded. The connection stays open until
/// either side closes it, even if the application releases this object.
public final class WebSocketConnection: @unchecked Sendable {
    // Unchecked: the constants are Sendable. The variables below "Event loop" are accessed on
    // `eventLoop` only: a box for them would cost an access for every message.

    /// The event loop of the connection, on which its handlers are called.
    public let eventLoop: any EventLoop
    /// The negotiated subprotocol.
    public let subprotocol: String?
    /// The address of the peer's end of the transport, if the system provides it.
    public let remoteAddress: SocketAddress?
    /// The request that opened the connection, on a server: path, query, cookies. `nil` on a
    /// client.
    ///
    /// Created at every access: store the values that are used often.
    public var request: HTTPRequest? { self.storedRequest?.request }
    private let storedRequest: StoredRequest?
    /// The queues' reference to this object, from ``attach(_:)`` to the end of the connection.
    let link: OwnerLink<WebSocketConnection>

    let flow: WebSocketFlowControl
    let inbox: WebSocketInbox
    let outbox: WebSocketOutbox
    let status = NIOLockedValueBox(Status())

    /// The state that any thread may read.
    struct Status: Sendable {
        /// Indirect: a closure is larger than the rest of the status.
        private enum Ending: Sendable {
            case none
            indirect case closed(WebSocketClosure)
        }

        var isOpen = true
        private var ending = Ending.none
        var latency: Duration?
        var isCompressed = false
        var waiters: [CheckedContinuation<WebSocketClosure, Never>] = []

        var closure: WebSocketClosure? {
            get { if case .closed(let closure) = self.ending { closure } else { nil } }
            set { self.ending = newValue.map { .closed($0) } ?? .none }
        }
    }

    // MARK: Event loop

    // Unchecked as in the handler: the variables used for every message are accessed within single
    // statements.
    @exclusivity(unchecked) var handler: WebSocketHandler?
    @exclusivity(unchecked) var messageHandler: ((WebSocketConnection, WebSocketMessage) -> Void)?
    @exclusivity(unchecked) var readCompleteHandler: ((WebSocketConnection) -> Void)?
    var pongHandler: ((WebSocketConnection, ByteBuffer, Duration?) -> Void)?
    var closeHandlers: [(WebSocketClosure) -> Void] = []
    /// Uses the upper half of the numbers; the heartbeat uses the lower half.
    var pings = PendingPings<WebSocketPingWaiter>(firstID: 1 << 63)
    @exclusivity(unchecked) var heartbeat: WebSocketHeartbeatDriver?
    /// The keep-alive of a server's connection.
    @exclusivity(unchecked) var keepAlive: ServerKeepAlive?
    var closeWasRequested = false
    /// Whether the inbox is full and pauses reading.
    var inboxPausesReading = false

    /// Creates a connection without a WebSocket; ``attach(_:)`` sets it.
    package init(
        on eventLoop: any EventLoop, subprotocol: String?, remoteAddress: SocketAddress?, flow: WebSocketFlowControl = .init(),
        request: HTTPRequest? = nil
    ) {
        self.eventLoop = eventLoop
        self.subprotocol = subprotocol
        self.remoteAddress = remoteAddress
        self.storedRequest = request.map { StoredRequest($0) }
        self.flow = flow
        let link = OwnerLink<WebSocketConnection>(on: eventLoop)
        self.link = link
        self.inbox = WebSocketInbox(flow: flow) {
            // Reads the present state: the inbox may have filled up again before the loop runs
            // this.
            link.onLoop { $0.setReading(paused: $0.inbox.isPaused) }
        }
        self.outbox = WebSocketOutbox(flow: flow) { link.inLaterTurn { $0.outboxHopped() } }
    }

    /// Sets the WebSocket of the connection, whose delegate is the connection. On the event loop,
    /// before the first read.
    package func attach(_ handler: WebSocketHandler) {
        self.eventLoop.assertInEventLoop()
        self.handler = handler
        if self.closure == nil { self.link.connect(self) }  // it may already have ended
        if handler.deflate != nil { self.status.withLockedValue { $0.isCompressed = true } }
        self.transportChanged()
    }

    /// Starts the keep-alive. On the event loop. Does nothing if the connection has ended.
    func keep(_ keepAlive: ServerKeepAlive) {
        guard self.handler != nil else { return }
        self.keepAlive = keepAlive
        keepAlive.start()
    }

    // MARK: State

    /// Whether messages can be sent.
    public var isOpen: Bool { self.status.withLockedValue { $0.isOpen } }

    /// How the connection ended; `nil` while it is open or closing.
    public var closure: WebSocketClosure? { self.status.withLockedValue { $0.closure } }

    /// The round-trip time of the last answered ping; `nil` before the first.
    public var latency: Duration? { self.status.withLockedValue { $0.latency } }

    /// Whether permessage-deflate (RFC 7692) was negotiated.
    public var isCompressed: Bool { self.status.withLockedValue { $0.isCompressed } }

    /// Waits for the end of the connection.
    ///
    /// Ignores cancellation: the wait is bounded by the close deadline or by the peer.
    public func waitUntilClosed() async -> WebSocketClosure {
        await withCheckedContinuation { continuation in
            let closure: WebSocketClosure? = self.status.withLockedValue { status in
                if status.closure == nil { status.waiters.append(continuation) }
                return status.closure
            }
            if let closure { continuation.resume(returning: closure) }
        }
    }
}
