import ApusWebSocketProtocol
import DequeModule
import NIOCore

/// The limits of the queue for messages sent while a session has no connection.
public struct WebSocketSendQueue: Sendable, Hashable {
    /// The policy for a message that exceeds the limits.
    public enum Overflow: Sendable, Hashable {
        /// `send` throws ``WebSocketError/Code/queueFull``.
        case fail
        /// The oldest message is dropped. For positions and prices.
        case dropOldest
        /// The new message is dropped.
        case dropNewest
    }

    /// The maximum number of queued messages. Default: 256. With 0, every message sent without a
    /// connection overflows.
    public var maximumMessages: Int = 256

    /// The maximum number of queued payload bytes. Default: 1 MiB.
    ///
    /// The whole queue is passed to the connection when it opens, even above
    /// ``WebSocketFlowControl/postedBytes``.
    public var maximumBytes: Int = 1 << 20

    /// The policy above the limits. Default: ``Overflow/fail``.
    public var overflow: Overflow = .fail

    /// Creates the limits of a queue.
    public init(maximumMessages: Int = 256, maximumBytes: Int = 1 << 20, overflow: Overflow = .fail) {
        self.maximumMessages = maximumMessages
        self.maximumBytes = maximumBytes
        self.overflow = overflow
    }
}

/// The queue of messages that wait for a connection.
struct WebSocketSendQueueState {
    let configuration: WebSocketSendQueue
    private var messages = Deque<WebSocketMessage>()
    private var bytes = 0
    /// The number of dropped messages.
    private(set) var dropped = 0

    init(_ configuration: WebSocketSendQueue) {
        self.configuration = configuration
    }

    var count: Int { self.messages.count }

    /// Appends a message. Returns `false` if it does not fit and the sender must be notified.
    mutating func append(_ message: WebSocketMessage) -> Bool {
        let size = message.payload.readableBytes
        while !self.hasRoom(for: size) {
            switch self.configuration.overflow {
            case .fail:
                return false
            case .dropNewest:
                self.dropped += 1
                return true
            case .dropOldest:
                self.dropped += 1
                guard let oldest = self.messages.popFirst() else { return true }  // larger than the whole queue
                self.bytes -= oldest.payload.readableBytes
            }
        }
        self.messages.append(message)
        self.bytes += size
        return true
    }

    private func hasRoom(for size: Int) -> Bool {
        self.messages.count < self.configuration.maximumMessages && size <= self.configuration.maximumBytes - self.bytes
    }

    /// Removes and returns all messages, in order.
    mutating func takeAll() -> [WebSocketMessage] {
        defer {
            self.messages.removeAll()
            self.bytes = 0
        }
        return self.messages.map { $0 }  // not `Array(…)`: see `WebSocketInboxStateMachine.handlerTakesOver`
    }
}
