import ApusChatProtocol
import GRDB
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatServer

@Suite("Conversations")
struct ConversationsTests {
    let chat: TestChat

    init() throws { self.chat = try TestChat() }

    @Test func aPairIsTheSameForBothUsers() throws {
        let (alice, bobby) = (self.chat.alice, self.chat.bobby)
        try self.chat.db.write { db in
            let first = try Conversations.open(with: bobby, by: alice, newID: "p1", at: 1, db)
            #expect(first.others == [bobby])
            // One head is pushed to both members, so it must be the same for them.
            #expect(try Conversations.head(first.head.conv, for: bobby, db) == first.head)
            let second = try Conversations.open(with: alice, by: bobby, newID: "p2", at: 2, db)
            #expect(second.head.conv == first.head.conv)
            #expect(second.others.isEmpty)
        }
    }

    @Test func aPairNeedsAnotherExistingUser() throws {
        let alice = self.chat.alice
        func open(_ name: String) -> ChatError.Code? {
            self.chat.code {
                _ = try self.chat.db.write { db in try Conversations.open(with: UserID(unchecked: name), by: alice, newID: "p", at: 1, db) }
            }
        }
        #expect(open("alice") == .badRequest)
        #expect(open("nobody") == .notFound)
    }

    @Test func aGroupsLogBeginsWithTwoChanges() throws {
        let (alice, bobby) = (self.chat.alice, self.chat.bobby)
        let made = try self.chat.db.write { db in
            try Conversations.create(CreateRequest(title: "T", members: [bobby, bobby, alice]), by: alice, newID: "g", at: 7, db)
        }
        #expect(made.head.members.map(\.user) == [alice, bobby])
        #expect(made.head.members.map(\.role) == [.owner, .member])
        #expect(made.head.seq == 2 && made.head.n == 0 && made.head.unread == 0)
        #expect(made.others == [bobby])
        #expect(try self.chat.head(made.head.conv, for: bobby) == made.head)  // the same head is pushed to all members
        let log = try self.chat.events(.forward(conv: made.head.conv, from: 1, limit: 10), for: bobby).events
        #expect(log.map(\.kind) == [.conversationSet, .memberJoin])
        #expect(log.map(\.n) == [nil, nil])
        #expect(try self.chat.send("x", id: "m1", in: made.head.conv, from: bobby).reply.seq == 3)
        #expect(try self.chat.head(made.head.conv, for: alice).unread == 1)
    }

    @Test func aGroupIsJudged() throws {
        let (alice, bobby) = (self.chat.alice, self.chat.bobby)
        func create(_ title: String, _ members: [UserID]) -> ChatError.Code? {
            self.chat.code {
                _ = try self.chat.db.write { db in
                    try Conversations.create(CreateRequest(title: title, members: members), by: alice, newID: "g", at: 7, db)
                }
            }
        }
        #expect(create(" ", [bobby]) == .badRequest)
        #expect(create("T\u{0}U", [bobby]) == .badRequest)
        #expect(create("T\u{1B}[2J", [bobby]) == .badRequest)
        #expect(create(String(repeating: "x", count: 101), [bobby]) == .tooLarge)
        #expect(create("T", [UserID(unchecked: "nobody")]) == .notFound)
        #expect(create("T", (0..<500).map { UserID(unchecked: "u\($0)") }) == .tooLarge)
    }

    /// Creating the largest group takes a number of statements that is linear in its members.
    @Test func theWorkOfALargeGroupGrowsWithItsMembers() throws {
        let alice = self.chat.alice
        let others = (1..<ChatLimits.members).map { UserID(unchecked: "member\($0)") }
        try self.chat.db.write { db in
            for user in others {
                let name = try #require(UserName(user.rawValue))
                _ = try AccountRows.insertUser(user, name: name, display: "", password: PasswordHash(stored: "x"), at: 1, db)
            }
        }
        let statements = NIOLockedValueBox(0)
        let made = try self.chat.db.write { db in
            db.trace { _ in statements.withLockedValue { $0 += 1 } }
            defer { db.trace(options: []) }
            return try Conversations.create(CreateRequest(title: "T", members: others), by: alice, newID: "g", at: 7, db)
        }
        #expect(made.others.count == ChatLimits.members - 1 && made.head.members.count == ChatLimits.members)
        #expect(statements.withLockedValue { $0 } < 2 * ChatLimits.members + 50)
    }

    @Test func headsSinceATimeAreThoseThatChanged() throws {
        let pair = try self.chat.pair()
        let (alice, carol) = (self.chat.alice, self.chat.carol)
        _ = try self.chat.db.write { db in try Conversations.open(with: carol, by: alice, newID: "p2", at: 20, db) }
        func heads(_ since: Int64?) throws -> [String] {
            try self.chat.db.read { db in try Conversations.heads(since: since, for: alice, db).heads }.map(\.conv.rawValue)
        }
        #expect(try heads(nil) == ["p2", "pair"])
        #expect(try heads(15) == ["p2"])
        try self.chat.send("x", id: "m", in: pair, from: self.chat.bobby, at: 30)
        #expect(try heads(25) == ["pair"])
        // A sync returns the conversation after a mark, which does not change its position in the
        // list.
        _ = try self.chat.mark(1, in: pair, by: alice, at: 50)
        #expect(try heads(40) == ["pair"])
        #expect(try self.chat.head(pair, for: alice).updatedAt == 30)
        #expect(try self.chat.head(pair, for: alice).last?.seq == 1)
    }
}
