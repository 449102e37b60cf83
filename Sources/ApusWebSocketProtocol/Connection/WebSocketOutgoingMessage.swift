import ApusBytes
import NIOCore

/// Keeps the order of a message we send in pieces.
///
/// Source: RFC 6455 5.4.
@usableFromInline
struct WebSocketOutgoingMessage: Sendable {
    @usableFromInline
    enum State: Sendable {
        case none
        /// Pieces went out, the last has not.
        case open(WebSocketMessage.Kind)
    }

    @usableFromInline
    var state = State.none
    /// A text may be cut within a character, but must be UTF-8 in all.
    private var validator = UTF8StreamValidator()

    @inlinable
    var isOpen: Bool {
        switch self.state {
        case .none: false
        case .open: true
        }
    }

    /// The opcode of the next piece's frame.
    mutating func add(_ bytes: ByteBuffer, of kind: WebSocketMessage.Kind, isLast: Bool) throws(WebSocketError) -> WebSocketOpcode {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.invalidUse, message: message) }
        let opcode: WebSocketOpcode
        switch self.state {
        case .none:
            opcode = kind == .text ? .text : .binary
            self.validator = UTF8StreamValidator()
        case .open(let present):
            guard present == kind else { throw refuse("a \(kind) piece of a \(present) message") }
            opcode = .continuation
        }
        if kind == .text {
            var validator = self.validator
            guard validator.receive(bytes), !isLast || validator.isComplete else { throw refuse("a piece of a text is not UTF-8") }
            self.validator = validator
        }
        self.state = isLast ? .none : .open(kind)
        return opcode
    }
}
