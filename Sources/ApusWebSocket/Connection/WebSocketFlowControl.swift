/// Limits on the bytes and messages that a connection queues, and the policy if they are exceeded.
public struct WebSocketFlowControl: Sendable, Hashable {
    /// The policy for a message that exceeds the limit of ``WebSocketConnection/post(_:)``.
    public enum Overflow: Sendable, Hashable {
        /// The connection closes with 1008. Queued messages are discarded after
        /// `WebSocketLimits.closeTimeout`.
        ///
        /// Suitable if the peer must receive every message. The peer reconnects and requests the
        /// missing messages.
        case close
        /// The message is dropped and `post` returns `false`. Suitable for messages that later
        /// messages supersede.
        case drop
    }

    /// The number of received messages in ``WebSocketConnection/messages`` at which reading stops.
    ///
    /// Default: 64. All messages of one read are delivered, so the queue can exceed this slightly.
    public var receivedMessages: Int = 64

    /// The number of payload bytes in ``WebSocketConnection/messages`` at which reading stops.
    ///
    /// Default: 1 MiB. One message may exceed it, up to `WebSocketLimits.maximumMessageBytes`.
    public var receivedBytes: Int = 1 << 20

    /// The maximum number of bytes that wait for the transport; ``WebSocketConnection/post(_:)``
    /// overflows above it.
    ///
    /// Default: 4 MiB. ``WebSocketConnection/send(_:)`` does not reach it, because it suspends
    /// above the transport's high watermark of 64 KiB. A burst from another thread may reach twice
    /// the limit before the event loop detects it and closes the connection.
    public var postedBytes: Int = 4 << 20

    /// The number of bytes queued for a client above which the server stops handling and reading
    /// the client's messages.
    ///
    /// The limit slows down a client that requests much and reads little. The server's
    /// `stallTimeout` eventually aborts such a connection. Messages already read are kept. Default:
    /// 1 MiB. The effective maximum is half of ``postedBytes``; the effective minimum is the
    /// transport's high watermark of 64 KiB.
    public var queueLowMark: Int = 1 << 20

    /// The policy for messages above ``postedBytes``. Default: ``Overflow/close``.
    public var overflow: Overflow = .close

    /// Creates the default limits.
    public init() {}
}
