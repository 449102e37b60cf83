package import NIOCore

/// The eight bytes a client of version 2 begins with: `APUS`, the version, three zeros.
///
/// The server answers with its hello and sends no preface of its own.
package enum FramePreface {
    package static let bytes: [UInt8] = [0x41, 0x50, 0x55, 0x53, 0x02, 0x00, 0x00, 0x00]

    private static let magicCount = 4

    /// Who the peer is, by its first bytes.
    package enum Verdict: Hashable, Sendable {
        /// Not to be told yet.
        case needsMore
        /// The preface was read.
        case version2
        /// A header of the fixed mode begins here; nothing was read.
        case fixedHeader
    }

    /// Looks at the first bytes of a client. Every byte that has come is judged at once, so that nobody waits for the eighth of a stranger.
    ///
    /// - Parameters:
    ///   - buffer: What has come; loses the preface when it is there.
    ///   - allowsFixedHeader: Whether old peers are served as well. Their first byte opens a JSON object.
    /// - Throws: ``FramedError/Code/unsupportedVersion`` for another version, or something else than this protocol.
    package static func read(_ buffer: inout ByteBuffer, allowsFixedHeader: Bool) throws(FramedError) -> Verdict {
        let came = buffer.readableBytesView.prefix(Self.bytes.count)
        guard let first = came.first else { return .needsMore }
        if allowsFixedHeader, first == UInt8(ascii: "{") { return .fixedHeader }
        for (offset, (byte, expected)) in zip(came, Self.bytes).enumerated() where byte != expected {
            guard offset == Self.magicCount else {
                throw FramedError(.unsupportedVersion, message: "byte \(offset) of the stream is not that of the preface: another protocol")
            }
            throw FramedError(.unsupportedVersion, message: "the peer speaks version \(byte), we speak version \(expected)")
        }
        guard came.count == Self.bytes.count else { return .needsMore }
        buffer.moveReaderIndex(forwardBy: Self.bytes.count)
        return .version2
    }
}
