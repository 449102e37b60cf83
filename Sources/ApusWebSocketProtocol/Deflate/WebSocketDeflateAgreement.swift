/// What both sides agreed on, seen from ours.
///
/// Source: RFC 7692 7.1.
package struct WebSocketDeflateAgreement: Hashable, Sendable {
    /// Our compression may refer this far back.
    package var outgoingWindowBits: Int { Int(self.outgoingBits) }
    /// Whether we may refer to earlier messages; otherwise each is compressed by itself.
    package let outgoingTakesContextOver: Bool
    /// The peer's compression refers this far back.
    package var incomingWindowBits: Int { Int(self.incomingBits) }
    /// Whether the peer may refer to earlier messages.
    package let incomingTakesContextOver: Bool

    /// See ``WebSocketDeflateConfiguration/compressionLevel``.
    package var compressionLevel: Int { Int(self.level) }
    /// See ``WebSocketDeflateConfiguration/memoryLevel``.
    package var memoryLevel: Int { Int(self.memory) }
    /// See ``WebSocketDeflateConfiguration/threshold``.
    package let threshold: Int

    // Small numbers in small types: every connection keeps two of these, or the room for them.
    private let outgoingBits: Int8
    private let incomingBits: Int8
    private let level: Int8
    private let memory: Int8

    /// - Parameters:
    ///   - role: Our side.
    ///   - parameters: What the response says.
    ///   - configuration: How we compress.
    package init(role: WebSocketRole, parameters: WebSocketDeflateParameters, configuration: WebSocketDeflateConfiguration) {
        let server = (bits: parameters.serverMaximumWindowBits ?? 15, keeps: !parameters.serverNoContextTakeover)
        let client = (bits: parameters.clientMaximumWindowBits?.bits ?? 15, keeps: !parameters.clientNoContextTakeover)
        let (ours, theirs) = role == .server ? (server, client) : (client, server)
        self.outgoingBits = Int8(clamping: ours.bits)
        self.outgoingTakesContextOver = ours.keeps
        self.incomingBits = Int8(clamping: theirs.bits)
        self.incomingTakesContextOver = theirs.keeps
        self.level = Int8(clamping: configuration.compressionLevel)
        self.memory = Int8(clamping: configuration.memoryLevel)
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
