/// How much a connection holds between its peer and its user, and what happens above that.
public struct WebSocketFlowControl: Sendable, Hashable {
    /// What happens to a message that ``WebSocketConnection/post(_:)`` has no room for.
    public enum Overflow: Sendable, Hashable {
        /// The connection closes with 1008; what is queued is given up after ``WebSocketLimits/closeTimeout``.
        ///
        /// The choice for a reader that must see every message: it comes back and asks again.
        case close
        /// The message is dropped and `post` returns `false`. The choice where the next message replaces this one.
        case drop
    }

    /// Messages received and not yet taken out of ``WebSocketConnection/messages`` before reading stops.
    ///
    /// Default: 64. What one read of the socket held is delivered whole, so that a few more can be there.
    public var receivedMessages: Int = 64

    /// The same bound in bytes of payload.
    ///
    /// Default: 1 MiB. One message may exceed it, up to ``WebSocketLimits/maximumMessageBytes``.
    public var receivedBytes: Int = 1 << 20

    /// Bytes that wait for the transport before ``WebSocketConnection/post(_:)`` overflows.
    ///
    /// Default: 4 MiB. ``WebSocketConnection/send(_:)`` does not come near: it suspends above the transport's watermark of 64 KiB.
    /// A burst from another thread than the connection's may come to twice as much before the event loop sees it and closes.
    public var postedBytes: Int = 4 << 20

    /// Bytes that wait for a server's client above which its messages are not handled and nothing more is read from it, until it has taken them.
    ///
    /// A client that asks for much and reads nothing is slowed down by that, and ends by the server's `stallTimeout`. Messages that were read and not
    /// handled wait. Default: 1 MiB. At most half of ``postedBytes`` counts; less than the transport's watermark of 64 KiB has the effect of that.
    public var queueLowMark: Int = 1 << 20

    /// What happens above ``postedBytes``. Default: ``Overflow/close``.
    public var overflow: Overflow = .close

    /// The defaults.
    public init() {}
}
