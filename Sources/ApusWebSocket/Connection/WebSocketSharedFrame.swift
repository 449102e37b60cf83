package import ApusWebSocketProtocol
package import NIOCore

/// A message as a server's frame, encoded once for any number of connections.
///
/// The compressed form refers to nothing before it, so every connection with at least its window can take it, whatever else was sent there. The
/// connection's own compression must forget what it remembers then: the peer's window holds this message, ours does not. Hence one compression
/// serves all, at the price that later messages of a connection with context takeover begin anew.
///
/// Source: RFC 7692 7.2.3.
package final class WebSocketSharedFrame: Sendable {
    /// Whether the message is text.
    package let isText: Bool
    /// The frame without compression.
    package let plain: ByteBuffer
    /// The frame with it, when it is smaller.
    let compressed: ByteBuffer?
    /// The window the compressed form needs.
    let windowBits: Int

    /// - Parameters:
    ///   - message: The message, with its wish for compression.
    ///   - deflate: How the server compresses; `nil` for not at all.
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

    private static func compress(_ message: WebSocketMessage, _ agreement: WebSocketDeflateAgreement, smallerThan bytes: Int) -> ByteBuffer?
    {
        var payload = ByteBuffer()
        // For want of memory: the plain form is as good.
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

extension WebSocketHandler {
    /// Sends a message that was encoded once for many.
    package func send(_ frame: WebSocketSharedFrame) {
        guard let compressed = frame.compressed, let deflate = self.deflate, deflate.outgoingWindowBits >= frame.windowBits,
            self.isOpen, !self.machine.isSendingPieces
        else { return self.send(preencoded: frame.plain) }
        self.send(preencoded: compressed)
        self.deflater?.reset()
    }
}
