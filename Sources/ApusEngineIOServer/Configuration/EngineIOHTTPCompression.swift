/// The compression of poll responses, for clients that accept gzip or deflate.
public struct EngineIOHTTPCompression: Sendable, Hashable {
    /// The minimum size of a body to compress. Unit: bytes. Default: 1,024, as in Node's engine.io.
    public var threshold = 1024
    /// The maximum size of a body to compress; compressing a larger one would block the event loop.
    /// Unit: bytes. Default: 1 MiB, about 10 ms of work (Node's engine.io has no limit).
    public var maximumBytes = 1 << 20
    /// The zlib level, from 1 (fast) to 9 (small). Default: 1, because compression runs on the
    /// event loop (Node's engine.io uses 6, on another thread).
    public var level = 1

    /// Creates a configuration with default values.
    public init() {}
}
