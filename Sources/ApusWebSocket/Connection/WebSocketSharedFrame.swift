package import ApusWebSocketProtocol
package import NIOCore

/// A message as a server's frame, encoded once for any number of connections.
///
/// The compressed form refers to no earlier message, so it is valid for every connection whose
/// window is at least as large. A connection that has sent it must reset its own compressor: the
/// peer's window contains this message, but the compressor's window does not. Later messages on a
/// connection with context takeover therefore start with an empty window.
///
/// Source: RFC 7692 sections 7.1.1 and 7.2.3.2.
package final class WebSocketSharedFrame: Sendable {
    /// Whether the message is text.
    package let isText: Bool
    /// The uncompressed frame.
    package let plain: ByteBuffer
    /// The compressed frame; `nil` if it would not be smaller.
    let compressed: ByteBuffer?
    /// The window size that the compressed form requires, as a power of two, in bits.
    let windowBits: Int

    /// Encodes a message.
    ///
    /// - Parameters:
    ///   - message: The message, with its compression preference.
    ///   - deflate: The server's compression; `nil` without compression.
    package init(_ message: WebSocketMessage, deflate: WebSocketDeflateConfiguration? = nil) {
        self.isText = message.kind == .text
        self.plain = WebSocketHandler.encodeServerFrame(message)
        guard let deflate else {
            self.compressed = nil
            self.windowBits = 0
            return
        }
        var parameters = WebSocketDeflateParameters()
        parameters.serverMaximumWindowBits = deflate.serverMaximumWindowBits
        let agreement = WebSocketDeflateAgreement(role: .server, parameters: parameters, configuration: deflate)
        self.windowBits = agreement.outgoingWindowBits
        self.compressed =
            agreement.compresses(message.payload.readableBytes, message.compression)
            ? Self.compress(message, agreement, smallerThan: self.plain.readableBytes) : nil
    }

    init(plain: ByteBuffer, isText: Bool) {
        self.isText = isText
        self.plain = plain
        self.compressed = nil
        self.windowBits = 0
    }

    /// The message without its compressed form.
    var uncompressed: WebSocketSharedFrame { WebSocketSharedFrame(plain: self.plain, isText: self.isText) }

    private static func compress(_ message: WebSocketMessage, _ agreement: WebSocketDeflateAgreement, smallerThan bytes: Int) -> ByteBuffer?
    {
        var payload = ByteBuffer()
        // This fails only if memory is exhausted; the uncompressed frame is then used.
        guard let deflater = try? WebSocketDeflater(agreement),
            (try? deflater.deflate(message.payload, isLast: true, into: &payload)) != nil
        else {
            return nil
        }
        guard payload.readableBytes < bytes else { return nil }
        var frame = ByteBuffer()
        WebSocketFrameEncoder.write(
            WebSocketFrame(isFinal: true, reserved: .rsv1, opcode: message.opcode, payload: payload), maskingKey: nil, into: &frame)
        return frame
    }
}
