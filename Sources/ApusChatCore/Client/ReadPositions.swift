package import ApusChatProtocol

/// The user's read positions. A position is applied immediately, and is sent to the server until it
/// is confirmed.
package struct ReadPositions: Sendable {
    private struct Position {
        /// The position that the user reached.
        var read: Int64
        /// The position that the server confirmed.
        var confirmed: Int64
        /// The position in the pending request; 0 if none is pending.
        var sent: Int64 = 0
    }

    private var positions: [ConversationID: Position] = [:]
    private var isConnected = false

    package init() {}

    /// Returns the position that the user reached, or 0.
    package func position(in conversation: ConversationID) -> Int64 { self.positions[conversation]?.read ?? 0 }

    /// Returns the position that the server confirmed, or 0.
    package func confirmed(in conversation: ConversationID) -> Int64 { self.positions[conversation]?.confirmed ?? 0 }

    /// Restores a stored position. A position with `read > confirmed` is sent on the next
    /// connection.
    package mutating func restored(_ conversation: ConversationID, read: Int64, confirmed: Int64) {
        self.positions[conversation] = Position(read: max(read, confirmed), confirmed: confirmed)
    }

    /// Records that the user has read up to a message. Returns the request to send, if any.
    package mutating func read(_ n: Int64, in conversation: ConversationID) -> MarkRequest? {
        var position = self.positions[conversation] ?? Position(read: 0, confirmed: 0)
        guard n > position.read else { return nil }
        position.read = n
        self.positions[conversation] = position
        return self.next(conversation)
    }

    /// Handles a position that the server reports: in a head, in the answer to a request, or
    /// because another device of the user moved it. A lower position than the known one is late and
    /// has no effect.
    package mutating func confirmed(_ n: Int64, in conversation: ConversationID) {
        var position = self.positions[conversation] ?? Position(read: 0, confirmed: 0)
        position.confirmed = max(position.confirmed, n)
        position.read = max(position.read, n)
        self.positions[conversation] = position
    }

    /// Handles the answer to a request. Returns the next request if the user has read more messages
    /// since then.
    package mutating func answered(_ answer: MarkAnswer) -> MarkRequest? {
        guard let read = answer.read else { return nil }
        self.confirmed(read, in: answer.conversation)
        // The server limits a position to the last message, so a higher position is not sent again.
        // The report of another device can arrive before the answer.
        if var position = self.positions[answer.conversation] {
            if position.sent >= position.read { position.read = position.confirmed }
            position.sent = 0
            self.positions[answer.conversation] = position
        }
        return self.next(answer.conversation)
    }

    /// Handles a failed request. After a temporary failure, the request is repeated on the next
    /// connection or after the next read message. After a refusal, the confirmed position replaces
    /// the position that the user reached.
    package mutating func failed(in conversation: ConversationID, isTemporary: Bool) {
        guard var position = self.positions[conversation] else { return }
        position.sent = 0
        if !isTemporary { position.read = position.confirmed }
        self.positions[conversation] = position
    }

    /// Handles the start of a session. Returns the positions to send, in the order of the
    /// conversation ids.
    package mutating func connected() -> [MarkRequest] {
        self.isConnected = true
        return self.positions.keys.sorted { $0.rawValue < $1.rawValue }.compactMap { self.next($0) }
    }

    package mutating func disconnected() {
        self.isConnected = false
        for conversation in self.positions.keys { self.positions[conversation]?.sent = 0 }
    }

    /// Handles the loss of the confirmed positions. The heads of the server contain them again.
    ///
    /// - Parameter keepsUnconfirmed: Whether positions that the server has not confirmed remain.
    /// - Returns: The conversations whose position remains.
    package mutating func dropped(keepsUnconfirmed: Bool) -> Set<ConversationID> {
        let unconfirmed = self.positions.filter { keepsUnconfirmed && $0.value.read > $0.value.confirmed }
        self.positions = unconfirmed.mapValues { Position(read: $0.read, confirmed: 0, sent: $0.sent) }
        return Set(unconfirmed.keys)
    }

    package mutating func removed(_ conversation: ConversationID) { self.positions[conversation] = nil }

    /// Returns the next request. Each conversation has at most one pending request, so that answers
    /// arrive in order.
    private mutating func next(_ conversation: ConversationID) -> MarkRequest? {
        guard self.isConnected, var position = self.positions[conversation], position.sent == 0, position.read > position.confirmed
        else { return nil }
        position.sent = position.read
        self.positions[conversation] = position
        return MarkRequest(conversation: conversation, read: position.read)
    }
}
