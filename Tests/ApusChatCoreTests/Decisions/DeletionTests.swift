import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

/// Deletion of conversations and accounts, and the erasure that follows.
@Suite struct DeletionTests {
    let world = World()
    let ann: UserKey
    let bob: UserKey
    let cid: UserKey
    let group: ConversationKey

    init() {
        self.ann = self.world.user("ann")
        self.bob = self.world.user("bob")
        self.cid = self.world.user("cid")
        self.group = self.world.conversation(owner: self.ann, members: [self.bob])
    }

    private func run(_ actor: UserKey, _ action: Command.Action) throws -> Decision {
        try self.world.run(self.world.command(actor, action))
    }

    @Test func onlyTheOwnerDeletesForAll() throws {
        _ = try self.run(self.ann, .setRole(self.group, [self.bob], .admin))
        #expect(try self.run(self.bob, .delete(self.group)).code == .forbidden)
        #expect(try self.run(self.cid, .delete(self.group)).code == .notFound)
        let pair = self.world.pair(self.ann, self.bob)
        #expect(try self.run(self.ann, .delete(pair)).code == .forbidden)
        #expect(try self.run(self.ann, .delete(self.group)).code == nil)
        #expect(self.world.deleted == [self.group])
    }

    @Test func aDeletedConversationExistsForNoUser() throws {
        try self.world.run(self.world.text(self.bob, self.group))
        _ = try self.run(self.ann, .createLink(self.group, LinkTerms(code: "code")))
        let call = try self.run(self.ann, .startCall(self.group, .audio)).answer?.seq ?? 0
        try self.world.run([self.world.text(self.bob, self.group), self.world.command(self.ann, .delete(self.group))])
        #expect(try self.world.run(self.world.text(self.ann, self.group)).code == .notFound)
        #expect(try self.world.run(self.world.read(self.bob, self.group, 1)).code == .notFound)
        #expect(try self.run(self.cid, .joinByLink("code")).code == .notFound)
        #expect(try self.run(self.bob, .join(self.group)).code == .notFound)
        #expect(try self.run(self.ann, .delete(self.group)).code == .notFound)
        #expect(try self.run(UserKey(0), .updateCall(EventAddress(self.group, call), .missed)).code == .notFound)
        #expect(self.world.storage.head(of: self.bob, in: self.group)?.member.isGone == true)
        #expect(self.world.bodies(self.bob, in: self.group).isEmpty)
    }

    /// A device may have sent a request before its session ended. Its message must not be stored
    /// after the erasure.
    @Test func requestsOfADeletedAccountAreRefused() throws {
        let text = self.world.text(self.bob, self.group, id: "m")
        let answer = try self.world.run(text).answer
        #expect(try self.world.run(text) == answer.map { .repeated($0) })
        var account = try #require(self.world.storage.accounts([self.bob]).first)
        account.state = .deleted
        var changes = Changes()
        changes.accounts = [account]
        self.world.write(changes)
        for conversation in [self.group, account.selfConversation] {
            #expect(try self.world.run(self.world.text(self.bob, conversation)).code == .unauthorized)
        }
        #expect(try self.world.run(text).code == .unauthorized)
        #expect(try self.run(self.bob, .react(EventAddress(self.group, 1), key: "x", isOn: true)).code == .unauthorized)
        #expect(try self.world.run(self.world.text(self.ann, self.group)).code == nil)
        let leave = Command(actor: self.bob, device: DeviceKey(0), request: nil, action: .leave(self.group, forgets: true))
        #expect(try self.world.run(leave).code == nil, "the erasure has no request")
    }

    @Test func theFirstAnswerIsGivenAgainAfterADeletion() throws {
        let text = self.world.text(self.bob, self.group, id: "m")
        let first = try self.world.run(text).answer
        _ = try self.run(self.ann, .delete(self.group))
        #expect(try self.world.run(text) == first.map { .repeated($0) })
    }

    @Test func aDeletedConversationIsErasedAndItsMembersDismissed() throws {
        for _ in 1...5 { try self.world.run(self.world.text(self.bob, self.group)) }
        _ = try self.run(self.ann, .invite(self.group, [self.cid]))
        _ = try self.run(self.ann, .delete(self.group))
        try self.world.maintain()
        #expect(self.world.storage.events(of: self.group, before: .max, limit: 9).isEmpty)
        for user in [self.ann, self.bob, self.cid] {
            #expect(self.world.member(user, in: self.group)?.state == .removed)
            #expect(self.world.member(user, in: self.group)?.isGone == true)
        }
        #expect(self.world.storage.deletedConversations(limit: 9).isEmpty)
    }

    @Test func anAccountIsErasedWithItsMessages() throws {
        let pair = self.world.pair(self.ann, self.bob)
        let left = self.world.conversation(owner: self.ann, members: [self.bob])
        for key in [self.group, pair, left] {
            try self.world.run([self.world.text(self.bob, key, "secret"), self.world.text(self.ann, key)])
        }
        for _ in 1...3 { try self.world.run(self.world.text(self.bob, self.group, "secret")) }
        _ = try self.run(self.bob, .leave(left, forgets: true))
        let own = try #require(self.world.storage.accounts([self.bob]).first?.selfConversation)
        _ = try self.run(self.bob, .personalize(self.group, .draft("{\"text\":\"secret\"}")))
        try self.world.run(self.world.text(self.bob, own, "secret"))
        try self.world.maintain()
        #expect(self.world.bodies(self.bob, in: own) == ["{\"text\":\"secret\"}"], "nothing is erased before")

        var account = try #require(self.world.storage.accounts([self.bob]).first)
        account.state = .deleted
        var changes = Changes()
        changes.accounts = [account]
        self.world.write(changes)
        try self.world.maintain()
        for key in [self.group, pair, left] {
            let rows = self.world.storage.events(in: key, .from(1), as: self.ann, limit: 99).compactMap(\.row)
            #expect(rows.filter { $0.sender == self.bob && $0.isMessage }.allSatisfy { $0.state == .erased && $0.body.isEmpty })
            #expect(rows.contains { $0.sender == self.ann && !$0.body.isEmpty }, "the messages of others stay")
        }
        let notes = self.world.storage.events(in: own, .from(1), as: self.bob, limit: 99).compactMap(\.row)
        #expect(notes.allSatisfy { $0.body.isEmpty })
        #expect(self.world.member(self.bob, in: self.group)?.state == .left)
        #expect(self.world.storage.deletedAccounts(limit: 9).isEmpty)
        #expect(self.world.storage.accounts([self.bob]).first?.isErased == true)
    }

    @Test func theErasureBeginsAgainAfterARestart() throws {
        for _ in 1...5 { try self.world.run(self.world.text(self.bob, self.group, "secret")) }
        var account = try #require(self.world.storage.accounts([self.bob]).first)
        account.state = .deleted
        var changes = Changes()
        changes.accounts = [account]
        self.world.write(changes)
        for _ in 0..<20 {
            // The erasure makes progress even if each step has new state, as after a restart.
            var maintenance = Maintenance(pageLimit: 2)
            let commands = try maintenance.next(self.world.storage, at: self.world.now) { row in
                SendCommand(conversation: row.conversation, content: .success(MessageContent(kind: row.kind, body: row.body)))
            }
            try self.world.run(commands)
        }
        try self.world.maintain()
        #expect(self.world.bodies(self.ann, in: self.group) == Array(repeating: "erased", count: 5))
    }

    /// The message becomes due between any two steps of the erasure. If it is sent, it is erased.
    @Test(arguments: 0..<8) func noScheduledMessageOutlivesItsAccount(steps: Int) throws {
        for _ in 1...3 { try self.world.run(self.world.text(self.bob, self.group, "secret")) }
        let body = "{\"text\":\"later\"}"
        let send = SendCommand(conversation: self.group, content: .success(MessageContent(kind: .text, body: body)))
        _ = try self.run(self.bob, .schedule(ScheduleCommand(send: send, kind: .text, body: body, sendAt: self.world.now + 1_000)))
        var account = try #require(self.world.storage.accounts([self.bob]).first)
        account.state = .deleted
        var changes = Changes()
        changes.accounts = [account]
        self.world.write(changes)
        var maintenance = Maintenance(pageLimit: 2)
        func step() throws {
            try self.world.run(
                try maintenance.next(self.world.storage, at: self.world.now) { row in
                    SendCommand(conversation: row.conversation, content: .success(MessageContent(kind: row.kind, body: row.body)))
                })
        }
        for _ in 0..<steps { try step() }
        self.world.now += 1_000
        for _ in 0..<20 { try step() }
        #expect(self.world.bodies(self.ann, in: self.group).allSatisfy { $0 == "erased" })
        #expect(self.world.storage.scheduled(of: self.bob, limit: 9).isEmpty)
        #expect(self.world.storage.accounts([self.bob]).first?.isErased == true)
    }
}
