import ApusWebSocketProtocol
import DequeModule
import NIOCore

/// How much a session keeps that was sent while there was no connection.
public struct WebSocketSendQueue: Sendable, Hashable {
    /// What happens to a message for which there is no room.
    public enum Overflow: Sendable, Hashable {
        /// `send` throws ``WebSocketError/Code/queueFull``.
        case fail
        /// The message that waited longest makes room. The choice for positions and prices.
        case dropOldest
        /// The message is thrown away.
        case dropNewest
    }

    /// Default: 256. With 0 nothing waits, and what is sent without a connection overflows.
    public var maximumMessages: Int = 256

    /// Unit: bytes of payload. Default: 1 MiB.
    ///
    /// All that waited is handed to the connection when it opens, also where this is above ``WebSocketFlowControl/postedBytes``.
    public var maximumBytes: Int = 1 << 20

    /// Default: ``Overflow/fail``.
    public var overflow: Overflow = .fail

    /// A queue with the defaults, or others.
    public init(maximumMessages: Int = 256, maximumBytes: Int = 1 << 20, overflow: Overflow = .fail) {
        self.maximumMessages = maximumMessages
        self.maximumBytes = maximumBytes
        self.overflow = overflow
    }
}

/// The messages that wait for a connection.
struct WebSocketSendQueueState {
    let configuration: WebSocketSendQueue
    private var messages = Deque<WebSocketMessage>()
    private var bytes = 0
    /// How many were thrown away.
    private(set) var dropped = 0

    init(_ configuration: WebSocketSendQueue) {
        self.configuration = configuration
    }

    var count: Int { self.messages.count }

    /// Puts a message at the end; `false`: there is no room and the sender is to be told.
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

    /// Everything, in order.
    mutating func takeAll() -> [WebSocketMessage] {
        defer {
            self.messages.removeAll()
            self.bytes = 0
        }
        return self.messages.map { $0 }  // not `Array(…)`: see `WebSocketInboxStateMachine.handlerTakesOver`
    }
}
