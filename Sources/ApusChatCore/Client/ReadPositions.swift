package import ApusChatProtocol

/// The user's own read positions: applied at once, and sent until the server has confirmed them.
package struct ReadPositions: Sendable {
    private struct Position {
        /// The position that the user reached.
        var read: Int64
        /// The position that the server confirmed.
        var confirmed: Int64
        /// The position of the request that is pending, or 0.
        var sent: Int64 = 0
    }

    private var positions: [ConversationID: Position] = [:]
    private var isConnected = false

    package init() {}

    /// The position that the user reached, or 0.
    package func position(in conversation: ConversationID) -> Int64 { self.positions[conversation]?.read ?? 0 }

    /// The position that the server confirmed, or 0.
    package func confirmed(in conversation: ConversationID) -> Int64 { self.positions[conversation]?.confirmed ?? 0 }

    /// The stored positions at start: those with `read > confirmed` are sent on the next
    /// connection.
    package mutating func restored(_ conversation: ConversationID, read: Int64, confirmed: Int64) {
        self.positions[conversation] = Position(read: max(read, confirmed), confirmed: confirmed)
    }

    /// The user has read up to a message. Returns the request to send, if any.
    package mutating func read(_ n: Int64, in conversation: ConversationID) -> MarkRequest? {
        var position = self.positions[conversation] ?? Position(read: 0, confirmed: 0)
        guard n > position.read else { return nil }
        position.read = n
        self.positions[conversation] = position
        return self.next(conversation)
    }

    /// The server told the position: in a head, in the answer to a request, or because another
    /// device of the user moved it. A lower one than known is late and has no effect.
    package mutating func confirmed(_ n: Int64, in conversation: ConversationID) {
        var position = self.positions[conversation] ?? Position(read: 0, confirmed: 0)
        position.confirmed = max(position.confirmed, n)
        position.read = max(position.read, n)
        self.positions[conversation] = position
    }

    /// The server answered a request. Returns the next one if the user has read on in the meantime.
    package mutating func answered(_ answer: MarkAnswer) -> MarkRequest? {
        guard let read = answer.read else { return nil }
        self.confirmed(read, in: answer.conversation)
        // The server bounds a position by the last message. What is above it is not repeated.
        if let sent = self.positions[answer.conversation]?.sent, sent >= self.position(in: answer.conversation) {
            self.positions[answer.conversation]?.read = read
        }
        self.positions[answer.conversation]?.sent = 0
        return self.next(answer.conversation)
    }

    /// A request failed. A temporary failure is repeated on the next connection or with the next
    /// message; after a refusal, the server's position holds.
    package mutating func failed(in conversation: ConversationID, isTemporary: Bool) {
        guard var position = self.positions[conversation] else { return }
        position.sent = 0
        if !isTemporary { position.read = position.confirmed }
        self.positions[conversation] = position
    }

    /// The session is open. Returns the positions to send, in the order of the conversations' ids.
    package mutating func connected() -> [MarkRequest] {
        self.isConnected = true
        return self.positions.keys.sorted { $0.rawValue < $1.rawValue }.compactMap { self.next($0) }
    }

    package mutating func disconnected() {
        self.isConnected = false
        for conversation in self.positions.keys { self.positions[conversation]?.sent = 0 }
    }

    package mutating func removed(_ conversation: ConversationID) { self.positions[conversation] = nil }

    /// One request of a conversation is pending at a time, so that answers arrive in order.
    private mutating func next(_ conversation: ConversationID) -> MarkRequest? {
        guard self.isConnected, var position = self.positions[conversation], position.sent == 0, position.read > position.confirmed
        else { return nil }
        position.sent = position.read
        self.positions[conversation] = position
        return MarkRequest(conversation: conversation, read: position.read)
    }
}
