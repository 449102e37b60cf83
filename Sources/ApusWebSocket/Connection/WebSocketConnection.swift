import ApusWebSocketProtocol
public import HTTPTypes
import NIOConcurrencyHelpers
public import NIOCore

/// An open WebSocket, a client's or a server's.
///
/// ```swift
/// try await connection.send("hello")
/// for try await message in connection.messages { print(message) }
/// ```
///
/// Two ways to receive: tasks read ``messages``, or a handler on the event loop is called at once (``onMessage(_:)``), without a
/// lock, a task or a hop. Two ways to send: ``send(_:)`` waits for room, ``post(_:)`` never waits and is bounded.
/// The connection stays open until either side closes it, whether anybody holds this object or not.
public final class WebSocketConnection: @unchecked Sendable {
    // Unchecked because: the constants are Sendable, and the variables below "event loop" are touched on `eventLoop` only, which
    // `onLoop` and the handler see to.

    /// The loop on which the connection lives and its handlers are called.
    public let eventLoop: any EventLoop
    /// The subprotocol both sides agreed on.
    public let subprotocol: String?
    /// The other end of the transport, as far as the system knows it.
    public let remoteAddress: SocketAddress?
    /// The request that opened the connection, for a server's handler: path, query, cookies. `nil` at the client's side.
    ///
    /// It is put together each time: keep what is needed often.
    public var request: HTTPRequest? { self.storedRequest?.request }
    private let storedRequest: StoredRequest?
    /// How the queues reach this object, from ``attach(_:)`` to the end.
    let link = ConnectionLink()

    let flow: WebSocketFlowControl
    let inbox: WebSocketInbox
    let outbox: WebSocketOutbox
    let status = NIOLockedValueBox(Status())

    /// What any thread may ask.
    struct Status: Sendable {
        /// Indirect: how a connection ended is larger than all else here.
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

    // Unchecked as in the handler: what every message touches is read and let go of within a statement.
    @exclusivity(unchecked) var handler: WebSocketHandler?
    @exclusivity(unchecked) var messageHandler: ((WebSocketConnection, WebSocketMessage) -> Void)?
    @exclusivity(unchecked) var readCompleteHandler: ((WebSocketConnection) -> Void)?
    var pongHandler: ((WebSocketConnection, ByteBuffer, Duration?) -> Void)?
    var closeHandlers: [(WebSocketClosure) -> Void] = []
    /// The upper half of the numbers: the lower one is the heartbeat's.
    var pings = PendingPings<WebSocketPingWaiter>(firstID: 1 << 63)
    @exclusivity(unchecked) var heartbeat: WebSocketHeartbeatDriver?
    /// Watches over a server's connection.
    @exclusivity(unchecked) var keepAlive: ServerKeepAlive?
    var closeWasRequested = false
    /// Whether the messages that were received fill the queue.
    var inboxPausesReading = false

    /// A connection to be; ``attach(_:)`` gives it its WebSocket, of which it is the delegate.
    package init(
        on eventLoop: any EventLoop, subprotocol: String?, remoteAddress: SocketAddress?, flow: WebSocketFlowControl = .init(),
        request: HTTPRequest? = nil
    ) {
        self.eventLoop = eventLoop
        self.subprotocol = subprotocol
        self.remoteAddress = remoteAddress
        self.storedRequest = request.map { StoredRequest($0) }
        self.flow = flow
        let link = self.link
        self.inbox = WebSocketInbox(flow: flow) {
            // Asks and does not command: the inbox may have filled up again before the loop comes to it.
            link.onLoop { $0.setReading(paused: $0.inbox.isPaused) }
        }
        self.outbox = WebSocketOutbox(flow: flow) { link.laterOnLoop { $0.outboxHopped() } }
    }

    /// Gives the connection its WebSocket. On the event loop, before the first byte is read; the handler's delegate is the connection.
    package func attach(_ handler: WebSocketHandler) {
        self.eventLoop.assertInEventLoop()
        self.handler = handler
        if self.closure == nil { self.link.connect(self) }  // it may have ended meanwhile
        if handler.deflate != nil { self.status.withLockedValue { $0.isCompressed = true } }
        self.transportChanged()
    }

    /// Has the connection watched over. On the event loop; not when it has ended already.
    func keep(_ keepAlive: ServerKeepAlive) {
        guard self.handler != nil else { return }
        self.keepAlive = keepAlive
        keepAlive.start()
    }

    func onLoop(_ body: @escaping @Sendable (WebSocketConnection) -> Void) {
        if self.eventLoop.inEventLoop { body(self) } else { self.eventLoop.execute { body(self) } }
    }

    // MARK: State

    /// Whether messages can be sent.
    public var isOpen: Bool { self.status.withLockedValue { $0.isOpen } }

    /// How the connection ended; `nil` while it has not.
    public var closure: WebSocketClosure? { self.status.withLockedValue { $0.closure } }

    /// The round-trip time of the last ping that was answered, `nil` before the first.
    public var latency: Duration? { self.status.withLockedValue { $0.latency } }

    /// Whether both sides agreed on permessage-deflate (RFC 7692).
    public var isCompressed: Bool { self.status.withLockedValue { $0.isCompressed } }

    /// Waits for the end of the connection.
    ///
    /// Does not look at cancellation: the close deadline or the peer ends it.
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

/// Lets the queues reach the connection that owns them, while it is open.
///
/// Not a weak reference: an object with one counts all its references in a table of their own, which took a 25th of an echo.
final class ConnectionLink: Sendable {
    private let target = NIOLockedValueBox<WebSocketConnection?>(nil)

    /// The connection is open, and kept so by its channel.
    func connect(_ connection: WebSocketConnection) {
        self.target.withLockedValue { $0 = connection }
    }

    /// The connection has ended: the circle is opened.
    func disconnect() {
        self.target.withLockedValue { $0 = nil }
    }

    func onLoop(_ body: @escaping @Sendable (WebSocketConnection) -> Void) {
        self.target.withLockedValue { $0 }?.onLoop(body)
    }

    /// Also on the loop itself: what else is sent in this turn joins.
    func laterOnLoop(_ body: @escaping @Sendable (WebSocketConnection) -> Void) {
        guard let connection = self.target.withLockedValue({ $0 }) else { return }
        connection.eventLoop.execute { body(connection) }
    }
}
