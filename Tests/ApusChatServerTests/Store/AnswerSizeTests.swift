import ApusChatProtocol
import ApusJSON
import GRDB
import Testing

@testable import ApusChatServer

/// No answer is larger than `ChatLimits.answerBytes`; longer lists have pages (docs/hazards.md,
/// 29).
@Suite("The size of answers")
struct AnswerSizeTests {
    let chat: TestChat

    init() throws { self.chat = try TestChat() }

    /// The longest text on the wire, where each of these characters takes six bytes.
    private static let longText = String(repeating: "\u{1}", count: ChatLimits.textLength)

    private func bytes(_ value: some Encodable) throws -> Int {
        try JSONWriter.bytes(of: try JSONValueEncoder().encode(value)).count
    }

    /// Inserts users `n0000`… with the longest ids and display names.
    private func addUsers(_ count: Int, _ db: Database) throws -> [UserID] {
        try (0..<count).map { number in
            let digits = String(repeating: "0", count: 4 - min(4, "\(number)".count)) + "\(number)"
            let id = UserID(unchecked: String(repeating: "u", count: 60) + digits)
            try db.execute(
                sql: "INSERT INTO user (id, name, folded, display, display_folded, password, created_at) VALUES (?, ?, ?, ?, ?, 'x', 1)",
                arguments: [
                    id.rawValue, "name\(digits)", "name\(digits)", String(repeating: "🐦", count: ChatLimits.displayLength), "",
                ])
            return id
        }
    }

    private func addGroup(_ id: String, _ members: [UserID], updatedAt: Int64, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO conversation (id, kind, title, created_at, updated_at, touched_at) VALUES (?, 'group', ?, 1, ?, ?)",
            arguments: [id, String(repeating: "\"", count: ChatLimits.titleLength), updatedAt, updatedAt])
        for member in members {
            try db.execute(
                sql:
                    "INSERT INTO member (conversation, user, role, joined_seq, min_seq, floor_n, read_n) VALUES (?, ?, 'member', 0, 1, 0, 0)",
                arguments: [id, member.rawValue])
        }
    }

    /// Requests all pages of the heads, as a client does.
    private func pages(
        since: Int64? = nil, for user: UserID, between: (Int) throws -> Void = { _ in }
    ) throws -> [[ChatHead]] {
        var pages: [[ChatHead]] = []
        var position = HeadsPosition.newest
        while true {
            let page = try self.chat.db.read { db in try Conversations.heads(since: since, from: position, for: user, db) }
            pages.append(page.heads)
            let token = page.next.map { HeadsPageToken(at: .max, $0).text }
            #expect(try self.bytes(HeadsReply(heads: page.heads, page: token, at: .max)) <= ChatLimits.answerBytes)
            guard let next = page.next, pages.count < 1_000 else { return pages }
            // Encodes and decodes the token.
            position = .all(after: try HeadsPageToken(try #require(token)).after)
            #expect(position == next)
            try between(pages.count)
        }
    }

    @Test func headsComeInPagesTheNewestFirst() throws {
        let (alice, bobby) = (self.chat.alice, self.chat.bobby)
        try self.chat.db.write { db in
            for number in 0..<2_000 { try self.addGroup("g\(number)", [alice, bobby], updatedAt: Int64(1_000 + number), db) }
        }
        let pages = try self.pages(for: alice)
        #expect(pages.count > 2)
        #expect(pages[0].map(\.updatedAt) == pages[0].indices.map { Int64(2_999 - $0) })
        let rest = pages.dropFirst().flatMap { $0.map(\.conv.rawValue) }
        #expect(rest == (0..<2_000).map { "g\($0)" }.sorted())
        // Heads that fit into one answer are on one page.
        #expect(try self.pages(since: 2_900, for: alice).map(\.count) == [100])
    }

    @Test func noConversationSlipsThroughBetweenTwoPages() throws {
        let (alice, bobby) = (self.chat.alice, self.chat.bobby)
        try self.chat.db.write { db in
            for number in 0..<2_000 { try self.addGroup("g\(number)", [alice, bobby], updatedAt: Int64(1_000 + number), db) }
        }
        // While pages are asked for, the conversations that would be on later ones become the
        // newest.
        let pages = try self.pages(for: alice) { page in
            try self.chat.db.write { db in
                try db.execute(
                    sql: "UPDATE conversation SET updated_at = ?, touched_at = ? WHERE id IN ('g0', 'g1', 'g500', 'g999')",
                    arguments: [10_000 + page, 10_000 + page])
            }
        }
        #expect(Set(pages.joined().map(\.conv)).count == 2_000)
    }

    @Test func aHeadOfAGroupOfThousandsFits() throws {
        let alice = self.chat.alice
        try self.chat.db.write { db in
            let members = try self.addUsers(3_000, db) + [UserID(unchecked: "z")]
            try db.execute(
                sql:
                    "INSERT INTO user (id, name, folded, display, display_folded, password, created_at) VALUES ('z', 'z', 'z', 'z', '', 'x', 1)"
            )
            try self.addGroup("large", [alice] + members, updatedAt: 5, db)
        }
        let conv = ConversationID(unchecked: "large")
        try self.chat.send(Self.longText, id: "m", in: conv, from: alice)
        for user in [alice, UserID(unchecked: "z")] {
            let head = try self.chat.head(conv, for: user)
            #expect(head.members.count == ChatLimits.members && head.memberCount == 3_002)
            #expect(head.members.contains { $0.user == user })
            #expect(try self.bytes(head) <= AnswerBudget.bytes(of: head))
            // At most half of the answer, so that events fit as well.
            #expect(try self.bytes(HeadReply(head: head)) < ChatLimits.answerBytes / 2)
        }
        #expect(try self.chat.head(try self.chat.pair(), for: alice).memberCount == nil)
    }

    @Test(arguments: [true, false]) func eventsAreCutShortAndResumedWithoutAHole(forward: Bool) throws {
        let conv = try self.chat.pair()
        for number in 1...40 { try self.chat.send(Self.longText, id: "m\(number)", in: conv, from: self.chat.alice) }
        for number in 41...60 { try self.chat.send("short", id: "m\(number)", in: conv, from: self.chat.alice) }
        var seqs: [Int64] = []
        var replies = 0
        while seqs.count < 60, replies < 100 {
            let request: SyncRequest =
                forward
                ? .forward(conv: conv, from: (seqs.last ?? 0) + 1, limit: 200) : .backward(conv: conv, before: seqs.first, limit: 200)
            let reply = try self.chat.events(request, for: self.chat.bobby)
            #expect(try self.bytes(reply) <= ChatLimits.answerBytes)
            #expect(!reply.events.isEmpty && reply.head.seq == 60)
            seqs = forward ? seqs + reply.events.map(\.seq) : reply.events.map(\.seq) + seqs
            replies += 1
        }
        #expect(seqs == Array(1...60))
        #expect(replies > 5)
    }

    @Test func helloNamesAllContactsPageByPage() throws {
        let alice = self.chat.alice
        try self.chat.db.write { db in
            let users = try self.addUsers(2_500, db)
            for start in stride(from: 0, to: users.count, by: 499) {
                try self.addGroup("g\(start)", [alice] + users[start..<min(users.count, start + 499)], updatedAt: 5, db)
            }
        }
        var names: [String] = []
        var page: String?
        var count = 0
        repeat {
            let contacts = try self.chat.db.read { db in try Users.contacts(of: alice, page: page, db) }
            let me = ChatUser(id: alice, name: "alice", display: String(repeating: "🐦", count: 50), online: true)
            #expect(try self.bytes(HelloReply(user: me, users: contacts.users, page: contacts.next, at: .max)) <= ChatLimits.answerBytes)
            names += contacts.users.map(\.name)
            page = contacts.next
            count += 1
        } while page != nil && count < 100
        #expect(count > 2 && names.count == 2_500 && names == Array(Set(names)).sorted())
    }

    @Test func theBudgetCountsNoLessThanTheText() throws {
        let user = ChatUser(
            id: UserID(unchecked: String(repeating: "a", count: 64)), name: "fifteen_letters", display: String(repeating: "\\", count: 50),
            online: false)
        #expect(try self.bytes([user, user]) <= 2 * AnswerBudget.bytes(of: user))
        for text in ["x", Self.longText, String(repeating: "\"", count: 8_000), String(repeating: "🐦", count: 8_000)] {
            let event = ChatEvent(
                conv: ConversationID(unchecked: String(repeating: "c", count: 64)), seq: .max, n: .max, sender: user.id,
                id: ClientID(unchecked: String(repeating: "\"", count: 64)), at: .min, kind: .memberJoin, ref: .max,
                body: ["text": .string(text)])
            #expect(try self.bytes([event, event]) <= 2 * AnswerBudget.bytes(of: event))
            let members = (0..<500).map {
                ChatMember(user: UserID(unchecked: "\(user.id)".dropLast(3) + "\($0)"), role: .owner, read: .max)
            }
            let head = ChatHead(
                conv: event.conv, kind: .group, title: String(repeating: "\"", count: 100), members: members, memberCount: .max, seq: .max,
                n: .max, read: .max, unread: .max, minSeq: .max, updatedAt: .min, last: event)
            #expect(try self.bytes([head, head]) <= 2 * AnswerBudget.bytes(of: head))
            // The largest event fits next to the largest head.
            #expect(AnswerBudget.bytes(of: head) + AnswerBudget.bytes(of: event) < AnswerBudget().rest)
        }
    }

    @Test(arguments: ["", "x", "-1:", "9223372036854775808:", ":g", "1:not an id", "1", String(repeating: "1", count: 200)])
    func aPageThatNoAnswerNamedIsRefused(text: String) {
        #expect(throws: ChatError.self) { try HeadsPageToken(text) }
    }
}
