package import ApusChatProtocol

/// A search among the messages that a user can see.
package struct SearchNeed: Sendable {
    package var words: SearchWords
    /// The conversation to which the search is restricted; nil for all conversations.
    package var conversation: ConversationKey?
    /// The sender to which the search is restricted; nil for all senders.
    package var sender: UserKey?
    /// The kinds to which the search is restricted; empty for all kinds.
    package var kinds: [EventKind] = []
    /// The earliest time of a message, in milliseconds since 1970; nil for no limit.
    package var from: Int64?
    /// The latest time of a message, in milliseconds since 1970; nil for no limit.
    package var until: Int64?
    /// The `next` of the previous page; nil for the first page.
    package var cursor: Int64?

    package init(words: SearchWords) { self.words = words }

    /// Whether the search lists all messages of the kinds in the conversation, because it has no
    /// words.
    package var isListing: Bool { self.words.phrases.isEmpty && self.conversation != nil && !self.kinds.isEmpty }

    /// Returns whether a message has content and contains the words. A listing requires no words.
    package func matches(_ event: EventRow) -> Bool {
        if self.isListing { return event.isMessage && !event.state.isBlank }
        return event.searchText.map { self.words.matches(in: $0) != nil } ?? false
    }

    /// Returns whether an event is a message that satisfies the restrictions other than the words.
    package func admits(_ event: EventRow) -> Bool {
        guard event.isMessage, self.sender == nil || self.sender == event.sender else { return false }
        guard self.kinds.isEmpty || self.kinds.contains(event.kind) else { return false }
        return event.at >= self.from ?? .min && event.at <= self.until ?? .max
    }
}

/// A page of found messages, newest first.
package struct SearchPage: Sendable, Equatable {
    package struct Hit: Sendable, Equatable {
        package var conversation: ConversationKey
        package var view: EventView
        /// The position of the hit. A page that begins after it continues with the next hit.
        package var cursor: Int64

        package init(conversation: ConversationKey, view: EventView, cursor: Int64) {
            self.conversation = conversation
            self.view = view
            self.cursor = cursor
        }
    }

    package var hits: [Hit] = []
    /// The position at which the next page begins; nil after the last page. A page can be empty.
    package var next: Int64?
    /// The time of the newest message in the index, in milliseconds since 1970; nil if the index
    /// contains all messages.
    package var indexedAt: Int64?

    package init() {}
}

/// A search index that is updated separately from the log.
///
/// An index is confined to one thread.
package protocol SearchIndexing: AnyObject {
    /// Adds texts that were written since the last call, up to a maximum number. Replaces a damaged
    /// index with an empty index, but at most once a minute, because a faulty disk can damage each
    /// new index.
    ///
    /// - Parameter time: The time of a monotonic clock, in milliseconds.
    /// - Returns: Whether there are further texts.
    func update(at time: Int64) throws(StorageError) -> Bool

    /// Calls `report`, on any thread, when a search finds that the index is damaged. The next
    /// update rebuilds the index.
    func whenDamaged(_ report: @escaping @Sendable () -> Void)

    /// The number of the last text change that the index contains. The storage no longer needs
    /// earlier changes.
    var lastChange: Int64 { get }
}

extension EventRow {
    /// The text of the message for the search index; nil for a change and for a message without
    /// content.
    package var searchText: String? {
        guard self.isMessage, !self.state.isBlank else { return nil }
        return ChatBody.searchText(kind: self.kind, body: self.body)
    }
}
