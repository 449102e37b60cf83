/// What we ask for and grant when permessage-deflate is negotiated, and how we compress.
///
/// Compression is off unless one of these is given. It costs memory (about 300 KB a connection with the defaults, once a
/// compressed message went each way) and time; it pays for long texts over slow networks.
///
/// Source: RFC 7692.
public struct WebSocketDeflateConfiguration: Hashable, Sendable {
    /// The server forgets its messages after each: less memory on both sides, less compression.
    ///
    /// A client asks for it, a server does it. Default: `false`, but a server always does it when the client asks.
    public var serverNoContextTakeover: Bool = false

    /// The client forgets its messages after each.
    ///
    /// A client announces it, a server demands it. Default: `false`, but a server takes the offer of a client that announces it.
    public var clientNoContextTakeover: Bool = false

    /// How far back the server's compression may refer, as a power of two.
    ///
    /// Unit: bits, 8 to 15 (256 bytes to 32 KiB). Default: 15. A client asks for it, a server limits itself to it. zlib cannot
    /// compress with 8 bits; we use 9 then, of which it never refers back further than 250 bytes, so the peer's 256 suffice.
    public var serverMaximumWindowBits: Int = 15

    /// How far back the client's compression may refer, as a power of two.
    ///
    /// Unit: bits, 8 to 15. Default: 15. A client limits itself to it, a server demands it from clients that can.
    public var clientMaximumWindowBits: Int = 15

    /// How much effort goes into compressing.
    ///
    /// 0 (none) to 9 (most). Default: 6, zlib's own default. 1 is about three times as fast and 10 to 20 % larger.
    public var compressionLevel: Int = 6

    /// How much memory compressing takes, beside the window.
    ///
    /// 1 (1 KiB) to 9 (256 KiB). Default: 8 (128 KiB), zlib's own default.
    public var memoryLevel: Int = 8

    /// Messages below this go uncompressed, unless the sender wants otherwise.
    ///
    /// Unit: bytes. Default: 1,024, as in node ws: what fits a packet anyway gains little.
    public var threshold: Int = 1024

    /// The defaults.
    public init() {}

    /// Says what cannot be.
    ///
    /// - Throws: ``WebSocketError/Code/invalidUse``.
    package func validate() throws(WebSocketError) {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.invalidUse, message: message) }
        for bits in [self.serverMaximumWindowBits, self.clientMaximumWindowBits] where !(8...15).contains(bits) {
            throw refuse("\(bits) window bits; 8 to 15 are possible")
        }
        guard (0...9).contains(self.compressionLevel) else {
            throw refuse("compression level \(self.compressionLevel); 0 to 9 are possible")
        }
        guard (1...9).contains(self.memoryLevel) else { throw refuse("memory level \(self.memoryLevel); 1 to 9 are possible") }
        guard self.threshold >= 0 else { throw refuse("a threshold of \(self.threshold) bytes") }
    }
}
