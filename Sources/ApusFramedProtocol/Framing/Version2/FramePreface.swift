package import NIOCore

/// The first eight bytes of a client of version 2: `APUS`, the version, three zeros.
///
/// The server answers with its hello frame and sends no preface.
package enum FramePreface {
    package static let bytes: [UInt8] = [0x41, 0x50, 0x55, 0x53, 0x02, 0x00, 0x00, 0x00]

    private static let magicCount = 4

    /// The protocol that the peer's first bytes indicate.
    package enum Verdict: Hashable, Sendable {
        /// More bytes are needed.
        case needsMore
        /// Version 2. The preface was consumed.
        case version2
        /// The fixed mode: a header begins here. Nothing was consumed.
        case fixedHeader
    }

    /// Detects the protocol from the first bytes of a client. Each byte is checked on arrival, so a
    /// foreign protocol is rejected before eight bytes have arrived.
    ///
    /// - Parameters:
    ///   - buffer: The received bytes. A complete preface is consumed.
    ///   - allowsFixedHeader: Whether the fixed mode is accepted. Its first byte opens a JSON
    ///     object.
    /// - Throws: ``FramedError/Code/unsupportedVersion`` for another version or another protocol.
    package static func read(_ buffer: inout ByteBuffer, allowsFixedHeader: Bool) throws(FramedError) -> Verdict {
        let received = buffer.readableBytesView.prefix(Self.bytes.count)
        guard let first = received.first else { return .needsMore }
        if allowsFixedHeader, first == UInt8(ascii: "{") { return .fixedHeader }
        for (offset, (byte, expected)) in zip(received, Self.bytes).enumerated() where byte != expected {
            guard offset == Self.magicCount else {
                throw FramedError(
                    .unsupportedVersion, message: "the peer uses another protocol: byte \(offset) of the stream does not match the preface")
            }
            throw FramedError(.unsupportedVersion, message: "the peer uses version \(byte); only version \(expected) is supported")
        }
        guard received.count == Self.bytes.count else { return .needsMore }
        buffer.moveReaderIndex(forwardBy: Self.bytes.count)
        return .version2
    }
}
