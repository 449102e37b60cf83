/// What both sides agreed on, seen from ours.
///
/// Source: RFC 7692 7.1.
package struct WebSocketDeflateAgreement: Hashable, Sendable {
    /// Our compression may refer this far back.
    package var outgoingWindowBits: Int
    /// Whether we may refer to earlier messages; otherwise each is compressed by itself.
    package var outgoingTakesContextOver: Bool
    /// The peer's compression refers this far back.
    package var incomingWindowBits: Int
    /// Whether the peer may refer to earlier messages.
    package var incomingTakesContextOver: Bool

    /// See ``WebSocketDeflateConfiguration/compressionLevel``.
    package var compressionLevel: Int
    /// See ``WebSocketDeflateConfiguration/memoryLevel``.
    package var memoryLevel: Int
    /// See ``WebSocketDeflateConfiguration/threshold``.
    package var threshold: Int

    /// - Parameters:
    ///   - role: Our side.
    ///   - parameters: What the response says.
    ///   - configuration: How we compress.
    package init(role: WebSocketRole, parameters: WebSocketDeflateParameters, configuration: WebSocketDeflateConfiguration) {
        let server = (bits: parameters.serverMaximumWindowBits ?? 15, keeps: !parameters.serverNoContextTakeover)
        let client = (bits: parameters.clientMaximumWindowBits?.bits ?? 15, keeps: !parameters.clientNoContextTakeover)
        let (ours, theirs) = role == .server ? (server, client) : (client, server)
        self.outgoingWindowBits = ours.bits
        self.outgoingTakesContextOver = ours.keeps
        self.incomingWindowBits = theirs.bits
        self.incomingTakesContextOver = theirs.keeps
        self.compressionLevel = configuration.compressionLevel
        self.memoryLevel = configuration.memoryLevel
        self.threshold = configuration.threshold
    }

    /// Whether a message of that many bytes is to be compressed.
    package func compresses(_ length: Int, _ wish: WebSocketCompression) -> Bool {
        switch wish {
        case .automatic: length >= self.threshold
        case .always: true
        case .never: false
        }
    }
}
