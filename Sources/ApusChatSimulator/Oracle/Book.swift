import ApusChatProtocol
import ApusChatStorage

/// A conversation in the oracle: a list of entries and a list of people, without counters.
final class Book {
    let key: ConversationKey
    let kind: ConversationKind
    var entries: [Entry] = []
    var people: [UserKey: Person] = [:]
    var settings: ConversationSettings
    /// For each message that began a thread, the `seq` of each reply, in order.
    var replies: [Int64: [Int64]] = [:]

    init(key: ConversationKey, kind: ConversationKind, settings: ConversationSettings) {
        self.key = key
        self.kind = kind
        self.settings = settings
    }

    var lastSeq: Int64 { Int64(self.entries.count) }
    var lastN: Int64 { self.entries.last(where: { $0.n > 0 })?.n ?? 0 }
    /// The running call, if any.
    var call: Entry? { self.entries.last { $0.n > 0 && !$0.state.isBlank && $0.call.map { !$0.isOver } ?? false } }
    var isPlain: Bool { self.kind == .own || self.kind == .pair }

    func index(of seq: Int64) -> Int? { seq >= 1 && seq <= self.lastSeq ? Int(seq) - 1 : nil }
}

/// An entry of a log. This type is a class, so that scans of a log copy no entries.
final class Entry {
    let seq: Int64
    let n: Int64
    let sender: UserKey
    var id: ClientID?
    var hash: RequestHash?
    let kind: EventKind
    let ref: Int64
    /// The text of a message or of an edit, the question of a poll, or the title that a preview
    /// adds.
    var text: String
    let at: Int64
    var expiresAt: Int64 = 0
    /// The `seq` of the message that began the thread; 0 outside of threads.
    var thread: Int64 = 0
    /// The original sender of a forwarded message; nil for other messages.
    var origin: UserKey?
    /// The state of a call, or the state that a call update records; nil for other entries.
    var call: Call?
    /// The title in the link preview of the text; empty if there is no preview.
    var preview = ""
    /// The text before the first edit.
    var original = ""
    /// The title in the link preview before the first edit.
    var originalPreview = ""
    /// The original sender of a forwarded message, before the first edit.
    var firstOrigin: UserKey?
    /// The `seq` of the last edit; 0 if the entry was not edited.
    var editSeq: Int64 = 0
    var state = EventState.normal
    var mentions: [UserKey] = []
    var mentionsAll = false
    var reactions: [(user: UserKey, key: String)] = []
    var poll: Poll?
    /// For a vote, the number of votes for each option after it.
    var totals: [Int64] = []
    var isPinned = false
    /// The users from whom a block hides the entry.
    var blockedFrom: [UserKey] = []
    /// The users who hid the entry from themselves.
    var deletedBy: [UserKey] = []
    /// The users from whom a block hides a change of the entry. A page that is read later contains
    /// the change.
    var changedUnseenBy: [UserKey] = []
    /// The `seq` of the last entry that changed this one, or the `seq` of this entry.
    var changedBy: Int64

    init(seq: Int64, n: Int64, sender: UserKey, kind: EventKind, ref: Int64, text: String, at: Int64) {
        self.seq = seq
        self.n = n
        self.sender = sender
        self.kind = kind
        self.ref = ref
        self.text = text
        self.at = at
        self.changedBy = seq
    }

    func isHidden(from user: UserKey) -> Bool { self.blockedFrom.contains(user) || self.deletedBy.contains(user) }

    /// Whether the entry repeats content of the message to which it refers.
    var repeatsContent: Bool { self.kind == .edit || self.kind == .preview }

    func blank(_ state: EventState) {
        self.state = state
        self.text = ""
        self.preview = ""
        self.original = ""
        self.originalPreview = ""
        self.origin = nil
        self.firstOrigin = nil
        self.mentions = []
        self.mentionsAll = false
        self.reactions = []
        self.poll = nil
        self.totals = []
        self.isPinned = false
        self.expiresAt = 0
    }
}

/// The state of a call.
struct Call {
    var state = CallState.ringing
    /// The time at which a callee accepted the call, in milliseconds since 1970; 0 before.
    var acceptedAt: Int64 = 0
    /// The time from the acceptance to the end, in milliseconds; nil unless the state is `ended`.
    var duration: Int64?

    var isOver: Bool { self.state != .ringing && self.state != .accepted }
}

/// The votes of a poll: the chosen options of each user who voted.
struct Poll {
    var options: Int
    var allowsMany: Bool
    /// The time at which the poll ends, in milliseconds since 1970; 0 for no end.
    var closesAt: Int64
    var isClosed = false
    var votes: [UserKey: [Int]] = [:]

    /// The number of votes for each option.
    var totals: [Int64] { self.totals(of: nil) }

    /// Returns the number of votes for each option.
    ///
    /// - Parameter user: The user whose votes are counted; nil for all users.
    func totals(of user: UserKey?) -> [Int64] {
        var totals = [Int64](repeating: 0, count: self.options)
        for (voter, options) in self.votes where user == nil || voter == user {
            for option in options where option < self.options { totals[option] += 1 }
        }
        return totals
    }
}

/// The state of a user in a conversation.
final class Person {
    var state: MemberState
    var role: MemberRole
    var first: Int64 = 1
    var left: Int64 = 0
    var floor: Int64 = 0
    var read: Int64 = 0
    var isGone = false
    /// The last `seq` of the pair when the user blocked the other user; 0 for no block.
    var blockSeq: Int64 = 0
    var hasBlocked = false
    var silencedUntil: Int64 = 0
    /// The time at which a ban ends, in milliseconds since 1970; 0 if the ban has no end.
    var bannedUntil: Int64 = 0
    var draft = ""
    var draftSeq: Int64 = 0
    // The user's settings for the conversation.
    var isPinned = false
    var isArchived = false
    var mutedUntil: Int64 = 0
    var isMarkedUnread = false

    init(state: MemberState, role: MemberRole) {
        self.state = state
        self.role = role
    }

    /// Returns whether the user is banned at a time.
    func isBanned(at time: Int64) -> Bool { self.state == .banned && (self.bannedUntil == 0 || self.bannedUntil > time) }

    /// Returns the visible range of the log; nil if the user may not see the log.
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

/// The relation of a user to another user.
struct Tie {
    var relation = ContactRelation.none
    var isBlocked = false
}

struct Link {
    let book: Book
    let role: MemberRole
    let expiresAt: Int64
    /// The maximum number of joins and of requests to join by the link; nil for no limit.
    let limit: Int64?
    let needsApproval: Bool
    var uses: Int64 = 0
    var isRevoked = false
}

/// A scheduled message.
struct Plan: Equatable {
    let conversation: ConversationKey
    let text: String
    let hash: RequestHash
    var sendAt: Int64
    /// The code of the error with which the message was refused; empty if the message was not
    /// refused.
    var failure = ""
}
