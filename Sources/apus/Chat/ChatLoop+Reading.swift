import ApusChatClient
import ApusChatProtocol

/// Shows conversations and marks messages as read once they have been on the screen.
extension ChatLoop {
    /// The maximum number of messages shown when a conversation is opened.
    private static let mostUnread: Int64 = 500

    /// Shows a conversation from its first unread message on, with some earlier messages.
    func showNewest(of conversation: ChatConversation) async throws {
        let info = try await conversation.info
        self.shownThrough = info.read
        let limit = Int(max(20, min(Self.mostUnread, info.unread + 5)))
        var items = try await conversation.history(limit: limit)
        // Loads messages that the store does not contain. Without a connection, shows the stored
        // ones.
        while info.unread > 0, items.count < limit, !items.reaches(info.read + 1),
            let count = try? await conversation.loadEarlier(limit: ChatLimits.syncEvents), count > 0
        {
            items = try await conversation.history(limit: limit)
        }
        self.lastReadNumber = info.unread > 0 ? info.read : nil
        for item in items {
            if case .message(let message) = item { self.announceUnread(message) }
            await self.show(item)
        }
        await self.markShown()
    }

    /// Prints a line above the first unread message of the conversation that was opened.
    func announceUnread(_ message: ChatMessage) {
        guard let read = self.lastReadNumber, let number = message.number, number > read else { return }
        self.lastReadNumber = nil
        let missing = number - read - 1
        let note = missing > 0 ? "; \(missing) earlier messages are not shown, see /history" : ""
        self.output.line(self.output.styled("— unread messages\(note) —", .yellow))
    }

    /// Marks the messages on the screen as read, up to the first unread message that was not shown.
    func markShown() async {
        guard let current, self.shownThrough > 0 else { return }
        try? await current.markRead(upTo: self.shownThrough)
    }

    /// Records that a message is on the screen.
    func noteShown(_ number: Int64?) {
        if let number, number - 1 == self.shownThrough { self.shownThrough = number }
    }
}

extension [ChatHistoryItem] {
    /// Returns whether the items include all messages from `number` on.
    fileprivate func reaches(_ number: Int64) -> Bool {
        var lowest: Int64?
        for item in self.reversed() {
            switch item {
            case .gap: return lowest.map { $0 <= number } ?? false
            case .message(let message): lowest = message.number ?? lowest
            }
        }
        return lowest.map { $0 <= number } ?? false
    }
}
