import ApusChatStorage

/// A conversation in memory, with the member rows that batches have needed.
final class HotConversation {
    let slot: Int64
    var row: ConversationRow
    var members: [UserKey: MemberRow] = [:]
    /// The `seq` of the last written event.
    var lastSeq: Int64
    /// The ordinal of the last written message.
    var lastN: Int64
    /// Whether the log is known to have no events after `lastSeq`.
    var isEndKnown = false

    init(slot: Int64, row: ConversationRow, lastSeq: Int64, lastN: Int64) {
        self.slot = slot
        self.row = row
        self.lastSeq = lastSeq
        self.lastN = lastN
    }
}

/// Caches the rows of recent batches, so that a batch for the same conversations reads nothing.
///
/// Only the writer changes the database, so the rows are always current. A failed batch clears the
/// cache. The cache has two generations: a lookup moves a row from the old generation to the young
/// one. When the young generation is full, it replaces the old one.
struct HotRows {
    /// The number of conversations and members above which the young generation is full.
    let capacity: Int
    private var young: [ConversationKey: HotConversation] = [:]
    private var old: [ConversationKey: HotConversation] = [:]
    private var weight = 0

    init(capacity: Int) { self.capacity = capacity }

    mutating func find(_ key: ConversationKey) -> HotConversation? {
        if let found = self.young[key] { return found }
        guard let found = self.old.removeValue(forKey: key) else { return nil }
        self.insert(found)
        return found
    }

    mutating func insert(_ conversation: HotConversation) {
        self.young[conversation.row.key] = conversation
        self.addWeight(1 + conversation.members.count)
    }

    /// Records that member rows were added to a conversation.
    mutating func addWeight(_ count: Int) { self.weight += count }

    /// Changes the member rows of one user in all cached conversations.
    func modify(_ user: UserKey, _ body: (inout MemberRow) -> Void) {
        for generation in [self.young, self.old] {
            for conversation in generation.values {
                guard var row = conversation.members[user] else { continue }
                body(&row)
                conversation.members[user] = row
            }
        }
    }

    /// Begins a new generation if the young one is full. The writer calls this method between
    /// batches.
    mutating func age() {
        guard self.weight > self.capacity else { return }
        self.old = self.young
        self.young = [:]
        self.weight = 0
    }

    mutating func removeAll() {
        self.young = [:]
        self.old = [:]
        self.weight = 0
    }
}
