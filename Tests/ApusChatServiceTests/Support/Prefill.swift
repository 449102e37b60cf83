import ApusChatProtocol
import ApusChatStorage

/// Rows that are written to a storage together, without requests.
struct Prefill {
    var changes = Changes()
    static let start: Int64 = 1_790_000_000_000

    /// Adds a conversation with its joined members, the first of which owns it.
    ///
    /// - Parameters:
    ///   - count: The stored number of members; nil for the number of `members`.
    ///   - bodies: The bodies of its messages as JSON text. The owner sends the messages.
    mutating func conversation(
        _ key: Int64, _ kind: ConversationKind, title: String = "", about: String = "", members: [Int64], count: Int? = nil,
        settings: ConversationSettings = ConversationSettings(), bodies: [String] = []
    ) {
        let conversation = ConversationKey(key)
        var profile = ConversationProfile()
        (profile.title, profile.about) = (title, about)
        var row = ConversationRow(key: conversation, kind: kind, createdAt: Self.start, settings: settings, profile: profile)
        row.counters.memberCount = count ?? members.count
        row.counters.lastSeq = Int64(bodies.count)
        row.counters.lastN = Int64(bodies.count)
        row.counters.lastAt = Self.start + key
        row.counters.previewSeq = Int64(bodies.count)
        self.changes.conversations.append(ConversationChange(key: conversation, counters: row.counters, row: row, isNew: true))
        for (index, user) in members.enumerated() {
            var member = MemberRow(address: MemberAddress(conversation, UserKey(user)), role: index == 0 ? .owner : .member, state: .joined)
            member.since = Self.start
            member.minSeq = 1
            self.changes.members.append(member)
        }
        for (index, body) in bodies.enumerated() {
            let number = Int64(index) + 1
            self.changes.events.append(
                EventRow(
                    conversation: conversation, seq: number, n: number, sender: UserKey(members[0]), at: Self.start + number, kind: .text,
                    body: body))
        }
    }

    func write(to storage: any MaintainedStorage) throws {
        _ = try storage.begin(Needs())
        _ = try storage.commit(self.changes)
    }
}
