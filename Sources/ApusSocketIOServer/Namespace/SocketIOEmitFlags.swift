/// The options of an emit that do not depend on its recipients.
public struct SocketIOEmitFlags: Hashable, Sendable {
    /// Whether the event is dropped for a client that cannot receive it now. Default: `false`.
    public var isVolatile = false
    /// Whether the transport may compress the event. Default: `true`. Set `false` for data that is
    /// compressed already, such as images.
    public var isCompressed = true
    /// Whether the event is limited to the sockets of this server. Default: `false`.
    public var isLocal = false
    /// The time to wait for acks or, in `fetchSockets`, for other servers. Default: `nil`, the
    /// configured `ackTimeout` or `clusterTimeout`.
    public var timeout: Duration?

    /// Creates flags.
    ///
    /// - Parameters:
    ///   - isVolatile: Whether the event is dropped for a client that cannot receive it now.
    ///   - isCompressed: Whether the transport may compress the event.
    ///   - isLocal: Whether the event is limited to this server's sockets.
    ///   - timeout: The time to wait for acks or for other servers; `nil` for the configured time.
    public init(isVolatile: Bool = false, isCompressed: Bool = true, isLocal: Bool = false, timeout: Duration? = nil) {
        self.isVolatile = isVolatile
        self.isCompressed = isCompressed
        self.isLocal = isLocal
        self.timeout = timeout
    }
}
