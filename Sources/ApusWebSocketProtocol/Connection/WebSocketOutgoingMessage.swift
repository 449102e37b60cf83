import ApusBytes
import NIOCore

/// Tracks a message that is sent in pieces.
///
/// Source: RFC 6455 5.4.
@usableFromInline
struct WebSocketOutgoingMessage: Sendable {
    @usableFromInline
    enum State: Sendable {
        case none
        /// Some pieces were sent, but not the last.
        case open(WebSocketMessage.Kind)
    }

    @usableFromInline
    var state = State.none
    /// A text may be split within a character, but must be valid UTF-8 as a whole.
    private var validator = UTF8StreamValidator()

    @inlinable
    var isOpen: Bool {
        switch self.state {
        case .none: false
        case .open: true
        }
    }

    /// Returns the opcode of the next piece's frame.
    mutating func add(_ bytes: ByteBuffer, of kind: WebSocketMessage.Kind, isLast: Bool) throws(WebSocketError) -> WebSocketOpcode {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.invalidUse, message: message) }
        let opcode: WebSocketOpcode
        switch self.state {
        case .none:
            opcode = kind == .text ? .text : .binary
            self.validator = UTF8StreamValidator()
        case .open(let present):
            guard present == kind else { throw refuse("the piece is \(kind), but the message is \(present)") }
            opcode = .continuation
        }
        if kind == .text {
            var validator = self.validator
            guard validator.receive(bytes), !isLast || validator.isComplete else { throw refuse("a piece of a text is not valid UTF-8") }
            self.validator = validator
        }
        self.state = isLast ? .none : .open(kind)
        return opcode
    }
}
