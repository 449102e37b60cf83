import ApusChatProtocol
import ApusChatStorage

/// Writes the rows of many accounts and of large conversations directly to a storage.
struct LargeRows {
    let storage: any MaintainedStorage
    private static let page = 10_000

    /// Adds accounts without conversations, whose names begin with `prefix`.
    func addAccounts(_ keys: ClosedRange<Int64>, prefix: String) throws {
        for first in stride(from: keys.lowerBound, through: keys.upperBound, by: Self.page) {
            try self.write { changes in
                for key in first...min(keys.upperBound, first + Int64(Self.page) - 1) {
                    changes.accounts.append(
                        AccountRow(
                            key: UserKey(key), name: UserName(prepared: "\(prefix)\(key)"), nickname: "",
                            selfConversation: ConversationKey(5_000_000 + key)))
                }
            }
        }
    }

    /// Adds a group or channel with messages of its owner.
    func addConversation(_ key: Int64, _ kind: ConversationKind, owner: Int64, members: ClosedRange<Int64>, messages: Int64) throws {
        let conversation = ConversationKey(key)
        var row = ConversationRow(
            key: conversation, kind: kind, createdAt: 0, settings: kind == .channel ? .channel : ConversationSettings())
        row.profile.title = "\(kind.rawValue) of \(members.count)"
        row.counters.memberCount = members.count + 1
        row.counters.lastSeq = messages
        row.counters.lastN = messages
        row.counters.previewSeq = messages
        try self.write { changes in
            changes.conversations = [ConversationChange(key: conversation, counters: row.counters, row: row, isNew: true)]
            changes.members = [MemberRow(address: MemberAddress(conversation, UserKey(owner)), role: .owner, state: .joined)]
            for n in 1...messages {
                changes.events.append(
                    EventRow(
                        conversation: conversation, seq: n, n: n, sender: UserKey(owner), at: n, kind: .text,
                        body: #"{"text":"message \#(n)"}"#))
            }
        }
        for first in stride(from: members.lowerBound, through: members.upperBound, by: Self.page) {
            try self.write { changes in
                for user in first...min(members.upperBound, first + Int64(Self.page) - 1) {
                    changes.members.append(
                        MemberRow(
                            address: MemberAddress(conversation, UserKey(user)), role: kind == .channel ? .reader : .member, state: .joined)
                    )
                }
            }
        }
    }

    private func write(_ configure: (inout Changes) -> Void) throws {
        var changes = Changes()
        configure(&changes)
        _ = try self.storage.begin(Needs())
        _ = try self.storage.commit(changes)
    }
}
