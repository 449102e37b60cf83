/// How an event travels, whoever it is for.
public struct SocketIOEmitFlags: Hashable, Sendable {
    /// Lost for a client that is not ready to receive it now. Default: no.
    public var isVolatile = false
    /// Whether a transport that compresses may compress it; it is the application that knows a photograph from a text. Default: yes.
    public var isCompressed = true
    /// Only for the sockets of this server, whoever else is in the cluster. Default: no.
    public var isLocal = false
    /// How long acks are waited for. Default: what the configuration says.
    public var timeout: Duration?

    /// - Parameters:
    ///   - isVolatile: Lost for a client that is not ready.
    ///   - isCompressed: Whether it may be compressed.
    ///   - isLocal: Only for this server's sockets.
    ///   - timeout: How long acks are waited for.
    public init(isVolatile: Bool = false, isCompressed: Bool = true, isLocal: Bool = false, timeout: Duration? = nil) {
        self.isVolatile = isVolatile
        self.isCompressed = isCompressed
        self.isLocal = isLocal
        self.timeout = timeout
    }
}
