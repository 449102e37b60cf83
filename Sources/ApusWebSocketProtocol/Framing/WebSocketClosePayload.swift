import ApusBytes
package import NIOCore

/// The payload of a Close frame: a code and a reason, or nothing.
///
/// Source: RFC 6455 section 5.5.1.
package struct WebSocketClosePayload: Equatable, Sendable {
    /// The code; `nil` if the payload is empty.
    package let code: WebSocketCloseCode?
    package let reason: String

    /// An empty payload.
    package static let empty = Self(code: nil, reason: "", unchecked: ())

    private init(code: WebSocketCloseCode?, reason: String, unchecked: Void) {
        self.code = code
        self.reason = reason
    }

    /// Creates a payload to send. Truncates the reason, between two characters, to the 123 bytes
    /// available in a control frame.
    ///
    /// Throws for a code that must not be sent, and for a reason with CR, LF or NUL, because
    /// reasons are written to logs and headers.
    package init(code: WebSocketCloseCode, reason: String) throws(WebSocketError) {
        guard code.isSendable else {
            throw WebSocketError(
                .invalidUse, message: "the close code must be from 1000 to 1003, 1007 to 1014 or 3000 to 4999, not \(code)")
        }
        guard !reason.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
            throw WebSocketError(.invalidUse, message: "the close reason must not contain CR, LF or NUL")
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

    /// Parses the payload of a received Close frame.
    package init(parsing payload: ByteBuffer) throws(WebSocketError) {
        var payload = payload
        guard payload.readableBytes > 0 else {
            self = .empty
            return
        }
        // "If there is a body, the first two bytes of the body MUST be a 2-byte unsigned integer"
        guard let number = payload.readInteger(as: UInt16.self) else {
            throw WebSocketError(.protocolViolation, message: "the payload of a Close frame must be empty or have at least 2 bytes")
        }
        let code = WebSocketCloseCode(rawValue: number)
        guard code.isSendable else {
            throw WebSocketError(.protocolViolation, message: "close code \(code) is not allowed in a Close frame")
        }
        guard UTF8StreamValidator.isValid(payload) else {
            throw WebSocketError(.invalidUTF8, message: "the close reason is not valid UTF-8")
        }
        self.init(code: code, reason: String(buffer: payload), unchecked: ())
    }

    /// The payload in wire format.
    package var encoded: ByteBuffer {
        var buffer = ByteBuffer()
        if let code = self.code {
            buffer.writeInteger(code.rawValue)
            buffer.writeString(self.reason)
        }
        return buffer
    }
}
