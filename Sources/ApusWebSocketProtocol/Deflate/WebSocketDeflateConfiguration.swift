/// The configuration of permessage-deflate: its negotiation and the compressor.
///
/// Without a configuration, compression is disabled. Compression costs time and memory: about 300
/// KB for a connection with the defaults, after a compressed message in each direction. It is
/// useful for long texts over slow networks.
///
/// Source: RFC 7692.
public struct WebSocketDeflateConfiguration: Hashable, Sendable {
    /// Whether the server resets its compression context after each message, which saves memory on
    /// both sides and compresses less.
    ///
    /// With `true`, a client requests this and a server does it. Default: `false`; a server still
    /// does it at a client's request.
    public var serverNoContextTakeover: Bool = false

    /// Whether the client resets its compression context after each message.
    ///
    /// With `true`, a client announces this and a server requires it. Default: `false`; a server
    /// still accepts a client's announcement.
    public var clientNoContextTakeover: Bool = false

    /// The window of the server's compression, as a power of two.
    ///
    /// Unit: bits, 8 to 15 (256 bytes to 32 KiB). Default: 15. A client requests the value; a
    /// server uses at most this window. zlib cannot compress with 8 bits, so 9 bits are used
    /// instead. With 9 bits, zlib refers back at most 250 bytes, so the peer's window of 256 bytes
    /// suffices.
    public var serverMaximumWindowBits: Int = 15

    /// The window of the client's compression, as a power of two.
    ///
    /// Unit: bits, 8 to 15. Default: 15. A client uses at most this window; a server requires the
    /// value from clients that support the parameter.
    public var clientMaximumWindowBits: Int = 15

    /// The compression level.
    ///
    /// 0 (none) to 9 (most). Default: 6, zlib's own default. With 1, compression is about three
    /// times as fast, and the result is 10 to 20 % larger.
    public var compressionLevel: Int = 6

    /// The memory of the compressor, in addition to the window.
    ///
    /// 1 (1 KiB) to 9 (256 KiB). Default: 8 (128 KiB), zlib's own default.
    public var memoryLevel: Int = 8

    /// The minimum size of a message that is compressed by default.
    ///
    /// Unit: bytes. Default: 1,024, as in ws for Node: a message that fits one network packet gains
    /// little.
    public var threshold: Int = 1024

    /// Creates a configuration with default values.
    public init() {}

    /// Validates the configuration.
    ///
    /// - Throws: ``WebSocketError/Code/invalidConfiguration``.
    package func validate() throws(WebSocketError) {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.invalidConfiguration, message: message) }
        for bits in [self.serverMaximumWindowBits, self.clientMaximumWindowBits] where !(8...15).contains(bits) {
            throw refuse("`serverMaximumWindowBits` and `clientMaximumWindowBits` must be between 8 and 15, not \(bits)")
        }
        guard (0...9).contains(self.compressionLevel) else {
            throw refuse("`compressionLevel` must be between 0 and 9, not \(self.compressionLevel)")
        }
        guard (1...9).contains(self.memoryLevel) else { throw refuse("`memoryLevel` must be between 1 and 9, not \(self.memoryLevel)") }
        guard self.threshold >= 0 else { throw refuse("`threshold` must be 0 or greater, not \(self.threshold)") }
    }
}
