import ApusChatProtocol
import ApusChatStorage

/// A conversation as the oracle keeps it: a list of entries and a list of people, without counters.
final class Book {
    let key: ConversationKey
    let kind: ConversationKind
    var entries: [Entry] = []
    var people: [UserKey: Person] = [:]
    var settings: ConversationSettings

    init(key: ConversationKey, kind: ConversationKind, settings: ConversationSettings) {
        self.key = key
        self.kind = kind
        self.settings = settings
    }

    var lastSeq: Int64 { Int64(self.entries.count) }
    var lastN: Int64 { self.entries.last(where: { $0.n > 0 })?.n ?? 0 }
    var isPlain: Bool { self.kind == .own || self.kind == .pair }

    func index(of seq: Int64) -> Int? { seq >= 1 && seq <= self.lastSeq ? Int(seq) - 1 : nil }
}

/// An entry of a log.
struct Entry {
    var seq: Int64
    var n: Int64
    var sender: UserKey
    var id: ClientID?
    var hash: RequestHash?
    var kind: EventKind
    var ref: Int64
    /// The text of a message, or the new text of an edit.
    var text: String
    var at: Int64
    var expiresAt: Int64 = 0
    /// The text before the first edit, and the time of the last one.
    var original = ""
    var editedAt: Int64 = 0
    var state = EventState.normal
    var mentions: [UserKey] = []
    var mentionsAll = false
    var reactions: [(user: UserKey, key: String)] = []
    var isPinned = false
    /// The users from whom a block hides the entry.
    var blockedFrom: [UserKey] = []
    /// The users that deleted the entry for themselves.
    var deletedBy: [UserKey] = []
    /// The users from whom a block hides a change of the entry. A new page shows it.
    var changedUnseenBy: [UserKey] = []
    /// The last entry that changed this one, or its own seq.
    var changedBy: Int64 = 0

    func isHidden(from user: UserKey) -> Bool { self.blockedFrom.contains(user) || self.deletedBy.contains(user) }

    mutating func blank(_ state: EventState) {
        self.state = state
        self.text = ""
        self.original = ""
        self.mentions = []
        self.mentionsAll = false
        self.reactions = []
        self.isPinned = false
        self.expiresAt = 0
    }
}

/// What a user is to a conversation.
struct Person {
    var state: MemberState
    var role: MemberRole
    var first: Int64 = 1
    var left: Int64 = 0
    var floor: Int64 = 0
    var read: Int64 = 0
    var isGone = false
    /// Since when the user blocks the other one of a pair, or 0.
    var blocksSince: Int64 = 0
    var hasBlocked = false
    var silencedUntil: Int64 = 0
    var draft = ""
    var draftSeq: Int64 = 0
    var isPinned = false

    /// The visible part of the log.
    func range(last: Int64) -> ClosedRange<Int64>? {
        let end: Int64
        switch self.state {
        case .joined: end = last
        case .left, .removed: end = min(last, self.left)
        default: return nil
        }
        return self.first <= end ? self.first...end : nil
    }
}

/// What a user is to another one.
struct Tie {
    var relation = ContactRelation.none
    var isBlocked = false
}
