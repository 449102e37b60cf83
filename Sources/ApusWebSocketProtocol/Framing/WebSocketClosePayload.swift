import ApusBytes
package import NIOCore

/// What a Close frame says: a code and a reason, or nothing at all.
///
/// Source: RFC 6455 5.5.1.
package struct WebSocketClosePayload: Equatable, Sendable {
    /// `nil`: the frame is empty.
    package let code: WebSocketCloseCode?
    package let reason: String

    /// The empty payload.
    package static let empty = Self(code: nil, reason: "", unchecked: ())

    private init(code: WebSocketCloseCode?, reason: String, unchecked: Void) {
        self.code = code
        self.reason = reason
    }

    /// A payload for sending. Cuts the reason to the 123 bytes a control frame leaves it, between two characters.
    ///
    /// Refused are a code that may not be sent and a reason with CR, LF or NUL (they end up in logs and headers).
    package init(code: WebSocketCloseCode, reason: String) throws(WebSocketError) {
        guard code.isSendable else {
            throw WebSocketError(.invalidUse, message: "close code \(code) may not be sent")
        }
        guard !reason.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
            throw WebSocketError(.invalidUse, message: "the close reason holds CR, LF or NUL")
        }
        var cut = reason
        if cut.utf8.count > 123 {
            var bytes = 0
            cut = String(
                cut.prefix(while: { character in
                    bytes += character.utf8.count
                    return bytes <= 123
                }))
        }
        self.init(code: code, reason: cut, unchecked: ())
    }

    /// The payload of a received Close frame.
    package init(parsing payload: ByteBuffer) throws(WebSocketError) {
        var payload = payload
        guard payload.readableBytes > 0 else {
            self = .empty
            return
        }
        // "If there is a body, the first two bytes of the body MUST be a 2-byte unsigned integer"
        guard let number = payload.readInteger(as: UInt16.self) else {
            throw WebSocketError(.protocolViolation, message: "a Close frame of one byte")
        }
        let code = WebSocketCloseCode(rawValue: number)
        guard code.isSendable else {
            throw WebSocketError(.protocolViolation, message: "close code \(code) may not be sent")
        }
        guard UTF8StreamValidator.isValid(payload) else {
            throw WebSocketError(.invalidUTF8, message: "the close reason is not UTF-8")
        }
        self.init(code: code, reason: String(buffer: payload), unchecked: ())
    }

    /// The bytes.
    package var encoded: ByteBuffer {
        var buffer = ByteBuffer()
        if let code = self.code {
            buffer.writeInteger(code.rawValue)
            buffer.writeString(self.reason)
        }
        return buffer
    }
}
