import ApusChatProtocol
import ApusChatStorage
import ApusJSON

@testable import ApusChatService

/// The rows of some users in memory, and the contexts in which they read.
///
/// The users `alice`, `bob`, `carol` and `dave` have the keys 1 to 4. The online state is that of
/// `presence`.
final class ViewWorld {
    let storage = MemoryStorage(epoch: "e1")
    let presence = PresenceBook()
    let received = ReceivedBook()
    let names = NameCache()
    var now: Int64 = 1_000

    init(_ users: [String] = ["alice", "bob", "carol", "dave"]) throws {
        for (index, name) in users.enumerated() {
            let key = Int64(index) + 1
            self.storage.addAccount(
                AccountRow(
                    key: UserKey(key), name: UserName(prepared: name), nickname: name.prefix(1).uppercased() + name.dropFirst(),
                    selfConversation: ConversationKey(1_000_000 + key)),
                at: 0)
        }
    }

    func context(of viewer: Int64) -> ReadContext {
        ReadContext(
            reads: self.storage, viewer: UserKey(viewer), names: self.names, presence: self.presence, received: self.received,
            now: self.now)
    }

    func change(_ body: (inout Changes) -> Void) throws {
        var changes = Changes()
        body(&changes)
        _ = try self.storage.begin(Needs())
        _ = try self.storage.commit(changes)
    }

    func account(_ key: Int64, _ body: (inout AccountRow) -> Void) throws {
        guard var row = self.storage.accounts([UserKey(key)]).first else { return }
        body(&row)
        try self.change { $0.accounts = [row] }
    }

    /// Sets the relation that `owner` has to `peer`.
    func contact(_ owner: Int64, _ peer: Int64, _ relation: ContactRelation = .friend, isBlocked: Bool = false) throws {
        var row = ContactRow(address: ContactAddress(owner: UserKey(owner), peer: UserKey(peer)))
        (row.relation, row.isBlocked) = (relation, isBlocked)
        try self.change { $0.contacts = [row] }
    }

    /// Adds a device of a user, last seen at a given time.
    func device(of user: Int64, seenAt time: Int64) throws {
        try self.change {
            $0.credentials.devices = [
                DeviceRow(key: DeviceKey(user * 100 + time), user: UserKey(user), name: "Test", platform: "test", at: time)
            ]
        }
    }

    /// Adds a conversation of joined members, the first of which owns it, with text messages of the
    /// owner.
    func conversation(
        _ key: Int64, _ kind: ConversationKind = .group, members: [Int64], texts: [String] = [],
        row configure: (inout ConversationRow) -> Void = { _ in }, member adjust: (inout MemberRow) -> Void = { _ in }
    ) throws {
        let conversation = ConversationKey(key)
        var row = ConversationRow(key: conversation, kind: kind, createdAt: 10, settings: ConversationSettings())
        if kind == .pair { row.pair = PairAddress(UserKey(members[0]), UserKey(members[1])) }
        let count = Int64(texts.count)
        row.counters.memberCount = members.count
        (row.counters.lastSeq, row.counters.lastN, row.counters.previewSeq) = (count, count, count)
        row.counters.lastAt = 10 + count
        configure(&row)
        try self.change { changes in
            changes.conversations = [ConversationChange(key: conversation, counters: row.counters, row: row, isNew: true)]
            for (index, user) in members.enumerated() {
                var member = MemberRow(
                    address: MemberAddress(conversation, UserKey(user)), role: index == 0 ? .owner : .member, state: .joined)
                member.since = 10
                adjust(&member)
                changes.members.append(member)
            }
            for (index, text) in texts.enumerated() {
                changes.events.append(Self.message(key, Int64(index) + 1, by: members[0], #"{"text":"\#(text)"}"#))
            }
        }
    }

    /// Returns a message whose ordinal is its seq.
    static func message(_ conversation: Int64, _ seq: Int64, by sender: Int64, _ body: String, kind: EventKind = .text) -> EventRow {
        EventRow(
            conversation: ConversationKey(conversation), seq: seq, n: seq, sender: UserKey(sender), at: 10 + seq, kind: kind, body: body)
    }
}

/// Returns the value of a JSON text.
func wire(_ text: String) throws -> JSONValue { try JSONValue(jsonString: text) }

/// Returns the id of a conversation on the wire.
func conversationText(_ number: Int64) -> String { ConversationID(number: number).rawValue }
