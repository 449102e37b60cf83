/// The negotiated compression parameters, as they apply to one side.
///
/// Source: RFC 7692 section 7.1.
package struct WebSocketDeflateAgreement: Hashable, Sendable {
    /// The window of outgoing compression, in bits.
    package var outgoingWindowBits: Int { Int(self.outgoingBits) }
    /// Whether outgoing messages may refer to earlier outgoing messages.
    package let outgoingTakesContextOver: Bool
    /// The window of the peer's compression, in bits.
    package var incomingWindowBits: Int { Int(self.incomingBits) }
    /// Whether incoming messages may refer to earlier incoming messages.
    package let incomingTakesContextOver: Bool

    /// See ``WebSocketDeflateConfiguration/compressionLevel``.
    package var compressionLevel: Int { Int(self.level) }
    /// See ``WebSocketDeflateConfiguration/memoryLevel``.
    package var memoryLevel: Int { Int(self.memory) }
    /// See ``WebSocketDeflateConfiguration/threshold``.
    package let threshold: Int

    // The integer types are small, because every connection stores two agreements.
    private let outgoingBits: Int8
    private let incomingBits: Int8
    private let level: Int8
    private let memory: Int8

    /// Creates the agreement that results from a response.
    ///
    /// - Parameters:
    ///   - role: The role of this side.
    ///   - parameters: The parameters of the response.
    ///   - configuration: The configuration of this side.
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

    /// Returns whether to compress a message of this length.
    package func compresses(_ length: Int, _ wish: WebSocketCompression) -> Bool {
        switch wish {
        case .automatic: length >= self.threshold
        case .always: true
        case .never: false
        }
    }
}
