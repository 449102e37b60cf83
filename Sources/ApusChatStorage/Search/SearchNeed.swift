package import ApusChatProtocol

/// A search in the messages that a user can see.
package struct SearchNeed: Sendable {
    package var words: SearchWords
    /// Restricts the search to a conversation.
    package var conversation: ConversationKey?
    /// Restricts the search to a sender.
    package var sender: UserKey?
    /// Restricts the search to some kinds. Empty for all.
    package var kinds: [EventKind] = []
    /// The earliest and the latest time.
    package var from: Int64?
    package var until: Int64?
    /// The `next` of the page before.
    package var cursor: Int64?

    package init(words: SearchWords) { self.words = words }

    /// Whether a message that has the words is one of those that are looked for.
    package func admits(_ event: EventRow) -> Bool {
        guard event.isMessage, self.sender == nil || self.sender == event.sender else { return false }
        guard self.kinds.isEmpty || self.kinds.contains(event.kind) else { return false }
        return event.at >= self.from ?? .min && event.at <= self.until ?? .max
    }
}

/// Messages that were found, newest first.
package struct SearchPage: Sendable, Equatable {
    package struct Hit: Sendable, Equatable {
        package var conversation: ConversationKey
        package var view: EventView
        /// Where a page after this hit begins.
        package var cursor: Int64

        package init(conversation: ConversationKey, view: EventView, cursor: Int64) {
            self.conversation = conversation
            self.view = view
            self.cursor = cursor
        }
    }

    package var hits: [Hit] = []
    /// Where the next page begins; nil after the last one. A page can be empty.
    package var next: Int64?
    /// The time of the newest message in the index if later ones are missing.
    package var indexedAt: Int64?

    package init() {}
}

/// An index of texts that follows the log on its own.
///
/// Confined to one thread.
package protocol SearchIndexing: AnyObject {
    /// Adds what was written since the last call, or a part of it.
    ///
    /// - Returns: Whether more is left.
    func update() throws(StorageError) -> Bool

    /// The number of the last change of an older text that the index has seen. The storage needs
    /// the changes before it no more.
    var lastChange: Int64 { get }
}

extension EventRow {
    /// What the search index contains of the message. Nil for a change, and without content.
    package var searchText: String? {
        guard self.isMessage, !self.state.isBlank else { return nil }
        return ChatBody.searchText(kind: self.kind, body: self.body)
    }
}
