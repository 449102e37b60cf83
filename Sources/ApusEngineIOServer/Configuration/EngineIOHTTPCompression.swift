/// How the answers to polls are compressed, for clients that accept gzip or deflate.
public struct EngineIOHTTPCompression: Sendable, Hashable {
    /// Answers below this go as they are. Unit: bytes. Default: 1,024, as the reference server.
    public var threshold = 1024
    /// Answers above this go as they are too: to compress them would hold up the other clients of the event loop. Unit: bytes. Default: 1 MiB, about
    /// 10 ms of work (the reference has no bound).
    public var maximumBytes = 1 << 20
    /// zlib's level, 1 (fast) to 9 (small). Default: 1, because it runs on the event loop (the reference uses 6 in a thread of its own).
    public var level = 1

    /// The defaults.
    public init() {}
}
