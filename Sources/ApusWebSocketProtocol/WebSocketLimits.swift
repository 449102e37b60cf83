/// The limits of a connection: the size of the peer's input, the time for the closing handshake,
/// and the size of deferred messages.
///
/// The size of a frame is checked when its header arrives, before the payload.
public struct WebSocketLimits: Sendable, Hashable {
    /// The maximum payload of one frame.
    ///
    /// Unit: bytes. Default: 1 MiB, the default of Python's `websockets`. A larger frame closes
    /// the connection with 1009.
    public var maximumFrameBytes: Int = 1 << 20

    /// The maximum size of all fragments of a message together.
    ///
    /// For a compressed message, the limit applies to the bytes on the wire and to the decompressed
    /// bytes.
    ///
    /// Unit: bytes. Default: 1 MiB. A larger message closes the connection with 1009.
    public var maximumMessageBytes: Int = 1 << 20

    /// The maximum number of frames of one message, including empty frames.
    ///
    /// Default: 131,072, twice the number that the Autobahn test suite sends for 4 MiB in frames of
    /// 64 bytes. A further frame closes the connection with 1008 (CVE-2026-48779).
    public var maximumFragments: Int = 1 << 17

    /// The maximum time for the peer to answer a Close frame and to close its side of the
    /// transport.
    ///
    /// Default: 10 seconds. The transport is then closed.
    public var closeTimeout: Duration = .seconds(10)

    /// The maximum number of header fields in the peer's handshake.
    ///
    /// Default: 100. Browsers send about 15. If there are more fields, a server responds with 431,
    /// and a client fails the connection (CVE-2024-37890).
    public var maximumHeaderFields: Int = 100

    /// The maximum size of the header fields of the handshake, names and values together.
    ///
    /// Unit: bytes. Default: 32 KiB, twice Node's limit, because cookies can be long. If the fields
    /// are larger, a server responds with 431, and a client fails the connection.
    public var maximumHeaderBytes: Int = 32 << 10

    /// The maximum size of the messages that wait for the last piece of a message sent in pieces.
    /// No other message may be sent between the pieces.
    ///
    /// Unit: bytes. Default: 4 MiB, four messages of the maximum size. Above the limit, the
    /// connection closes with 1011. `WebSocketFlowControl.postedBytes` limits the data that waits
    /// because the peer does not read.
    public var maximumDeferredBytes: Int = 4 << 20

    /// Creates limits with default values.
    public init() {}

    /// Creates limits with default values and another message size.
    ///
    /// - Parameter maximumMessageBytes: The maximum size of a message and of a frame.
    public init(maximumMessageBytes: Int) {
        self.maximumFrameBytes = maximumMessageBytes
        self.maximumMessageBytes = maximumMessageBytes
    }
}
