package import ApusChatProtocol

/// A conversation in a user's list. A deleted conversation is removed for all members.
package struct HeadRow: Sendable, Equatable {
    package var conversation: ConversationRow
    package var member: MemberRow
    package var unread: Int64
    package var mentions: Int64
    /// The newest event as the user may see it, for the preview.
    package var last: EventView?
    /// The `seq` of each pinned message that the user may see, newest first.
    package var pins: [Int64] = []
    /// The body of the newest draft, from the user's self conversation; empty without a draft.
    package var draft = ""
    /// The time of the newest draft, in milliseconds since 1970; 0 without a draft.
    package var draftAt: Int64 = 0

    package init(conversation: ConversationRow, member: MemberRow, unread: Int64, mentions: Int64, last: EventView?) {
        self.conversation = conversation
        self.member = member
        self.unread = unread
        self.mentions = mentions
        self.last = last
    }

    package var cursor: HeadsCursor {
        HeadsCursor(pinnedAt: self.member.pinnedAt, lastAt: self.conversation.counters.lastAt, conversation: self.conversation.key)
    }
}

/// The position of a head in a user's list.
package struct HeadsCursor: Sendable, Hashable, Comparable {
    package var pinnedAt: Int64
    package var lastAt: Int64
    package var conversation: ConversationKey

    package init(pinnedAt: Int64, lastAt: Int64, conversation: ConversationKey) {
        self.pinnedAt = pinnedAt
        self.lastAt = lastAt
        self.conversation = conversation
    }

    /// Returns whether `left` precedes `right` in lists: by the time of pinning, latest first; then
    /// by the time of the newest event, latest first; then by the key. Conversations that are not
    /// pinned follow the pinned ones.
    package static func < (left: Self, right: Self) -> Bool {
        if left.pinnedAt != right.pinnedAt { return left.pinnedAt > right.pinnedAt }
        if left.lastAt != right.lastAt { return left.lastAt > right.lastAt }
        return left.conversation < right.conversation
    }
}

/// A page of heads. `next` is nil after the last page.
package struct HeadsPage: Sendable, Equatable {
    package var heads: [HeadRow]
    package var next: HeadsCursor?
    package init(heads: [HeadRow], next: HeadsCursor?) {
        self.heads = heads
        self.next = next
    }
}

/// The answer to a request for changes.
package enum ChangesPage: Sendable, Equatable {
    /// Changed heads. `next` is nil after the last page.
    case page([HeadRow], next: ConversationKey?)
    /// The position belongs to another epoch, is too old, or is later than the current position.
    /// The client must read all heads again.
    case resync
}

/// Selects the events of a conversation that a read returns.
package enum EventSelection: Sendable, Equatable {
    /// The first `limit` events with a `seq` of at least `from`.
    case from(Int64)
    /// The last `limit` events with a `seq` of at most `through`.
    case through(Int64)
    /// The first replies of a thread from a `seq` onward.
    case thread(Int64, from: Int64)
    /// The last replies of a thread up to a `seq`.
    case threadEnd(Int64, through: Int64)
    /// The edits of an event, oldest first.
    case edits(of: Int64)
    /// The pinned messages, newest first.
    case pinned
}

/// A set of member states.
package struct MemberStates: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let joined = Self(rawValue: 1)
    package static let invited = Self(rawValue: 2)
    package static let requested = Self(rawValue: 4)
    package static let banned = Self(rawValue: 8)

    /// Returns whether the set contains a state. No set includes the states of former members.
    package func includes(_ state: MemberState) -> Bool {
        switch state {
        case .joined: self.contains(.joined)
        case .invited: self.contains(.invited)
        case .requested: self.contains(.requested)
        case .banned: self.contains(.banned)
        case .left, .removed, .unknown: false
        }
    }
}

/// A page of members. `next` is nil after the last page.
package struct MembersPage: Sendable, Equatable {
    package var members: [MemberRow]
    package var next: UserKey?
    /// The value of `ConversationCounters.membersVersion` in the same state.
    package var version: Int64
    /// The number of members on all pages.
    package var total: Int64
    package init(members: [MemberRow], next: UserKey?, version: Int64, total: Int64) {
        self.members = members
        self.next = next
        self.version = version
        self.total = total
    }
}

/// A page of conversations of the directory. `next` is nil after the last page. A page can be
/// empty.
package struct DirectoryPage: Sendable, Equatable {
    package var conversations: [ConversationRow] = []
    package var next: Int64?

    /// The maximum number of conversations that are examined for one page.
    package static let window = 2_000

    package init() {}
}

extension ConversationRow {
    /// Returns whether the title or the description contains a text, ignoring case. An empty text
    /// matches all conversations.
    package func isFound(by text: String) -> Bool {
        guard !text.isEmpty else { return true }
        let query = NameQuery.prepared(text)
        return NameQuery.contains(self.profile.title.lowercased(), query)
            // Descriptions are stored as they were typed.
            || NameQuery.contains(NameQuery.prepared(self.profile.about), query)
    }
}

/// A page of events of one sender. A page can be empty.
package struct SenderPage: Sendable, Equatable {
    package var events: [EventAddress]
    /// The `seq` after which the next page begins; nil after the last page.
    package var next: Int64?

    /// The maximum number of events that are examined for one page.
    package static let window: Int64 = 5_000

    package init(events: [EventAddress], next: Int64?) {
        self.events = events
        self.next = next
    }
}
