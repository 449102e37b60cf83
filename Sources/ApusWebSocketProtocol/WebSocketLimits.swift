/// What a peer may make us hold, and how long it may take to say goodbye.
///
/// Every number is judged on the frame's header, before a byte of its payload is waited for.
public struct WebSocketLimits: Sendable, Hashable {
    /// The largest payload of one frame.
    ///
    /// Unit: bytes. Default: 1 MiB, the default of Python's `websockets`. Above it the connection closes with 1009.
    public var maximumFrameBytes: Int = 1 << 20

    /// The largest message, all its fragments together.
    ///
    /// Of a compressed message both count: the bytes on the wire and, as they come out, the bytes they inflate to.
    ///
    /// Unit: bytes. Default: 1 MiB. Above it the connection closes with 1009.
    public var maximumMessageBytes: Int = 1 << 20

    /// The largest number of frames one message may come in, empty ones included.
    ///
    /// Default: 131,072, twice what the Autobahn test suite sends for 4 MiB in pieces of 64 bytes. Above it the
    /// connection closes with 1008 (CVE-2026-48779).
    public var maximumFragments: Int = 1 << 17

    /// How long the peer may take, in all, to answer our Close frame and to close its end of the transport.
    ///
    /// Default: 10 seconds. A silent or half-open peer is cut after that.
    public var closeTimeout: Duration = .seconds(10)

    /// How many header fields the handshake of the other side may have.
    ///
    /// Default: 100. Browsers send about 15. Above it a server answers 431, a client gives up (CVE-2024-37890).
    public var maximumHeaderFields: Int = 100

    /// How large the header fields of the handshake may be, names and values together.
    ///
    /// Unit: bytes. Default: 32 KiB, twice what Node takes: cookies can be long.
    public var maximumHeaderBytes: Int = 32 << 10

    /// How much may wait for the last piece of a message that is sent in pieces; no other message may stand between them.
    ///
    /// Unit: bytes. Default: 4 MiB, four messages of the largest size. Above it the connection closes with 1011. What waits because
    /// the peer does not read is counted elsewhere.
    public var maximumDeferredBytes: Int = 4 << 20

    /// The defaults.
    public init() {}

    /// The defaults with other sizes.
    ///
    /// - Parameter maximumMessageBytes: The bound of a message, and of a frame as well.
    public init(maximumMessageBytes: Int) {
        self.maximumFrameBytes = maximumMessageBytes
        self.maximumMessageBytes = maximumMessageBytes
    }
}
