import ApusChatProtocol
import ApusChatStorage
import Testing

/// The reads and writes of a batch.
@Suite struct BatchTests {
    @Test(arguments: StorageKind.allCases) func aBatchReadsTheRequestedRows(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        let known = MemberAddress(group, world.ann)
        let unknown = MemberAddress(group, world.eve)
        let facts = try world.facts {
            $0.conversations = [group, group, ConversationKey(9)]
            $0.members = [known, unknown, MemberAddress(ConversationKey(9), world.ann)]
        }
        #expect(facts.conversations[group]?.counters.memberCount == 2)
        #expect(facts.conversations.isLoaded(ConversationKey(9)) && facts.conversations[ConversationKey(9)] == nil)
        #expect(facts.members[known]?.role == .owner)
        #expect(facts.members.isLoaded(unknown) && facts.members[unknown] == nil)
    }

    @Test(arguments: StorageKind.allCases) func aPairBringsItsConversationAndItsMembers(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let key = ConversationKey(1)
        let pair = PairAddress(world.bob, world.ann)
        try world.write { changes in
            changes.conversations = [world.new(key, .pair) { $0.pair = pair }]
            changes.members = [world.ann, world.bob].map { MemberRow(address: MemberAddress(key, $0), role: .member, state: .joined) }
        }
        let facts = try world.facts { $0.pairs = [pair, PairAddress(world.ann, world.eve)] }
        #expect(facts.pairs[pair] == key)
        #expect(facts.pairs[PairAddress(world.ann, world.eve)] == nil)
        #expect(facts.conversations[key]?.pair == pair)
        #expect(facts.members[MemberAddress(key, world.ann)] != nil && facts.members[MemberAddress(key, world.bob)] != nil)
        #expect(try world.storage.pair(pair) == key)
    }

    @Test(arguments: StorageKind.allCases) func aSendIsFoundByItsID(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        let other = try world.group(2, world.ann)
        let id = try #require(ClientID("id-1"))
        let hash = RequestHash(1, 2, 3, .max)
        try world.append(to: group, by: world.ann) { event, _ in
            event.clientID = id
            event.hash = hash
        }
        let sent = SendAddress(group, world.ann, id)
        let others = [SendAddress(other, world.ann, id), SendAddress(group, world.bob, id)]
        let facts = try world.facts { $0.sends = [sent] + others }
        #expect(facts.sends[sent] == SentFact(hash: hash, seq: 1, n: 1, at: world.now + 1))
        for address in others { #expect(facts.sends.isLoaded(address) && facts.sends[address] == nil) }
        // The stored ack remains after the content is removed.
        try world.write { $0.blanks = [EventBlank(address: EventAddress(group, 1), state: .recalled)] }
        #expect(try world.facts { $0.sends = [sent] }.sends[sent]?.hash == hash)
    }

    @Test(arguments: StorageKind.allCases) func anEventIsReadAsItWasWritten(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        var written: EventRow?
        for kind in [EventKind.poll, EventKind(rawValue: "x.custom"), EventKind(rawValue: "from.later")] {
            try world.append(to: group, by: world.ann, kind: kind) { event, _ in
                event.clientID = ClientID("id-\(event.seq)")
                event.hash = RequestHash(UInt64(event.seq), 0, 0, 7)
                event.ref = event.seq - 1
                event.thread = 1
                event.body = "{\"text\":\"日本 \u{1F600} \\u0000 '\"}"
                event.expiresAt = 5
                event.mentions = [world.bob, world.eve]
                event.votes = [0, 3]
                event.allowsManyVotes = true
                event.hidesVoters = true
                written = event
            }
            let row = try #require(written)
            #expect(try world.event(row.address) == row)
        }
        try world.change(EventAddress(group, 1)) { event in
            event.state = .edited
            event.original = event.body
            event.body = ""
            (event.editedAt, event.editSeq) = (9, 2)
            event.expiresAt = 0
            event.isPinned = true
            event.isClosed = true
            event.reactions = [ReactionCount(key: "\u{1F44D}", count: 2), ReactionCount(key: "a \"b\"", count: 1)]
            event.votes = [1, 4]
            event.replyCount = 3
            event.lastReply = 8
            written = event
        }
        #expect(try world.event(EventAddress(group, 1)) == written)
    }

    @Test(arguments: StorageKind.allCases) func rowsAreReadAsTheyWereWritten(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let avatar = try #require(BlobID(String(repeating: "ab", count: 32)))
        let group = try world.group(1, world.ann) { row in
            row.profile.title = "Title"
            row.profile.about = "About"
            row.profile.avatar = avatar
            row.settings.slow = 5
            row.settings.write = .admins
            row.counters.pinCount = 3
            row.counters.linkCount = 4
            row.counters.membersVersion = 6
            row.counters.epoch = 7
            row.counters.callSeq = 8
        }
        let row = try #require(try world.facts { $0.conversations = [group] }.conversations[group])
        #expect(row.profile.title == "Title" && row.profile.about == "About" && row.profile.avatar == avatar)
        #expect(row.settings.slow == 5 && row.settings.write == .admins)
        #expect([row.counters.pinCount, row.counters.linkCount] == [3, 4])
        #expect([row.counters.membersVersion, row.counters.epoch, row.counters.callSeq] == [6, 7, 8])

        var member = MemberRow(address: MemberAddress(group, world.bob), role: .guest, state: .requested)
        (member.since, member.minSeq, member.leftSeq, member.floorN, member.readN, member.skipped) = (1, 2, 3, 4, 5, 6)
        (member.invitedBy, member.silencedUntil, member.lastSentAt, member.mutedUntil, member.pinnedAt) = (world.ann, 7, 8, 9, 10)
        (member.blockSeq, member.isGone, member.isArchived, member.isMarkedUnread) = (17, true, true, true)
        (member.folders, member.draftSeq, member.bannedUntil, member.notifiesMentionsOnly) = (.max, 11, 12, true)
        member.changed = try world.write { $0.members = [member] }
        #expect(try world.member(world.bob, group) == member)

        let folders = [FolderRow(Folder(name: "Work"), slot: 3), FolderRow(Folder(name: "日本", filter: "unread"), slot: 0)]
        try world.addAccount(UserKey(20), "zoe", nickname: "Zoë") { account in
            account.privacy.messages = .contacts
            account.privacy.typing = false
            account.privacy.find = .none
            account.about = "about"
            account.statusText = "status"
            account.avatar = avatar
            account.folders = folders
            account.quietHours = QuietHours(from: 1_320, until: 420)
            account.invitationsToday = 4
            account.invitationDay = 19_000
        }
        let account = try #require(try world.storage.accounts([UserKey(20), UserKey(99)]).first)
        #expect(account.privacy.messages == .contacts && !account.privacy.typing && account.privacy.find == .none)
        #expect(
            account.folders == folders && account.avatar == avatar
                && account.statusText == "status")
        #expect(account.quietHours == QuietHours(from: 1_320, until: 420))
        #expect(account.invitationsToday == 4 && account.invitationDay == 19_000 && account.nickname == "Zoë")
    }

    @Test(arguments: StorageKind.allCases) func aRequestIsAnsweredAgain(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let address = RequestAddress(world.ann, try #require(ClientID("r-1")))
        let answer = StoredAnswer(conversation: ConversationKey(1), seq: 2, n: 3, at: 4, text: "code")
        let row = RequestRow(address: address, hash: RequestHash(5, 6, 7, 8), answer: answer, at: 9)
        try world.write { $0.requests = [row] }
        let facts = try world.facts { $0.requests = [address, RequestAddress(world.bob, address.id)] }
        #expect(facts.requests[address] == row)
        #expect(facts.requests[RequestAddress(world.bob, address.id)] == nil)
    }

    @Test(arguments: StorageKind.allCases) func oldAnswersAreForgotten(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let storage = try #require(world.storage as? any MaintainedStorage)
        let addresses = try (1...5).map { RequestAddress(world.ann, try #require(ClientID("r-\($0)"))) }
        let answer = StoredAnswer(conversation: ConversationKey(1), seq: 1, n: 1, at: 1)
        try world.write { changes in
            changes.requests = addresses.enumerated().map { index, address in
                RequestRow(address: address, hash: RequestHash(1, 0, 0, 0), answer: answer, at: Int64(index + 1))
            }
        }
        #expect(try storage.forgetRequests(before: 4, limit: 2) == 2)
        #expect(try storage.forgetRequests(before: 4, limit: 2) == 1)
        #expect(try storage.forgetRequests(before: 4, limit: 2) == 0)
        let facts = try world.facts { $0.requests = addresses }
        #expect(addresses.map { facts.requests[$0]?.at } == [nil, nil, nil, 4, 5])
        _ = try storage.begin(Needs())
        #expect(throws: StorageError.self) { try storage.forgetRequests(before: 9, limit: 9) }
        storage.abandon()
    }

    @Test(arguments: StorageKind.allCases) func aBatchKnowsTheMembersWhoDoNotSeeAnEvent(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob, world.eve)
        try world.append(4, to: group, by: world.ann)
        let address = EventAddress(group, 2)
        func unseen(_ address: EventAddress) throws -> [UserKey]? { try world.facts { $0.unseen = [address, address] }.unseen[address] }
        #expect(try unseen(address) == [])
        try world.annotate(world.bob, address) { $0.isHidden = true }
        try world.modify(world.eve, group) { $0.minSeq = 3 }
        #expect(try unseen(address) == [world.bob, world.eve])
        #expect(try unseen(EventAddress(group, 3)) == [])
        for user in [world.bob, world.eve] { try world.modify(user, group) { $0.state = .left } }
        #expect(try unseen(address) == [])
        #expect(try unseen(EventAddress(ConversationKey(9), 1)) == [])
    }

    @Test(arguments: StorageKind.allCases) func anAbandonedBatchLeavesNothing(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        let position = try world.storage.position()
        _ = try world.storage.begin(Needs())
        world.storage.abandon()
        world.storage.abandon()
        #expect(try world.storage.position() == position)
        #expect(try world.append(to: group, by: world.ann) == 1)
    }

    /// A batch without changes ends, and is not counted: a client that knows the position before it
    /// has nothing to read.
    @Test(arguments: StorageKind.allCases) func anEmptyBatchHasNoNumber(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        let before = try world.modify(world.ann, group) { $0.readN = 1 }
        let position = try world.storage.position()
        #expect(try world.write { _ in } == before && world.storage.position() == position)
        #expect(throws: StorageError.self) { try world.storage.commit(Changes()) }
        #expect(try world.modify(world.ann, group) { $0.readN = 2 } == before + 1)
        guard case .page(let heads, nil) = try world.storage.changes(of: world.ann, after: position, cursor: nil, limit: 9) else {
            Issue.record("the position is known")
            return
        }
        #expect(heads.map(\.conversation.key) == [group])
    }

    @Test(arguments: StorageKind.allCases) func batchesDoNotOverlap(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        #expect(throws: StorageError.self) { try world.storage.commit(Changes()) }
        _ = try world.storage.begin(Needs())
        #expect(throws: StorageError.self) { try world.storage.begin(Needs()) }
        world.storage.abandon()
        _ = try world.storage.begin(Needs())
        world.storage.abandon()
    }

    @Test(arguments: StorageKind.allCases) func anAccountBringsItsCountsAndItsSelfConversation(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        for key in 1...3 { try world.group(Int64(key), world.ann) }
        try world.modify(world.ann, ConversationKey(1)) { $0.pinnedAt = 5 }
        try world.modify(world.ann, ConversationKey(2)) { $0.isGone = true }
        let facts = try world.facts { $0.accounts = [world.ann, UserKey(99)] }
        #expect(facts.accounts[world.ann]?.conversationCount == 3)
        #expect(facts.accounts[world.ann]?.pinnedCount == 1)
        #expect(facts.conversations[ConversationKey(1_011)]?.kind == .own)
        #expect(facts.accounts.isLoaded(UserKey(99)) && facts.accounts[UserKey(99)] == nil)
    }

    @Test(arguments: StorageKind.allCases) func successorsAreOrderedByRole(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        let roles: [(Int64, MemberRole, MemberState)] = [
            (30, .member, .joined), (31, .reader, .joined), (32, .admin, .joined), (33, .guest, .joined), (34, .admin, .left),
            (35, .member, .joined),
        ]
        try world.write { changes in
            changes.members = roles.map { key, role, state in
                MemberRow(address: MemberAddress(group, UserKey(key)), role: role, state: state)
            }
        }
        let facts = try world.facts { $0.successors = [group, ConversationKey(9)] }
        #expect(facts.successors[group] == [world.ann] + [32, 30, 35, 31].map(UserKey.init))
        #expect(try world.storage.staff(of: group, limit: 9).map(\.address.user) == [world.ann, UserKey(32)])
        #expect(try world.storage.staff(of: group, limit: 1).map(\.role) == [.owner])
        #expect(try world.storage.staff(of: ConversationKey(9), limit: 9) == [])
        #expect(facts.successors[ConversationKey(9)] == [])
        #expect(facts.members[MemberAddress(group, UserKey(32))]?.role == .admin)
    }

    @Test(arguments: StorageKind.allCases) func aLinkBringsItsConversationAndTheMember(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        var link = LinkRow(
            code: "abc", conversation: group, creator: world.ann, createdAt: 5, role: .guest, expiresAt: 6, usesLeft: 7,
            needsApproval: true)
        try world.write { $0.links = [link] }
        link.used = 1
        link.usesLeft = 6
        link.isRevoked = true
        try world.write { $0.links = [link] }
        let facts = try world.facts { $0.links = [LinkNeed(code: "abc", user: world.ann), LinkNeed(code: "x", user: world.ann)] }
        #expect(facts.links["abc"] == link)
        #expect(facts.links.isLoaded("x") && facts.links["x"] == nil)
        #expect(facts.conversations[group] != nil && facts.members[MemberAddress(group, world.ann)] != nil)
        let newer = LinkRow(code: "aaa", conversation: group, creator: world.ann, createdAt: 9)
        let newest = LinkRow(code: "bbb", conversation: group, creator: world.ann, createdAt: 10)
        link = LinkRow(code: "ccc", conversation: group, creator: world.ann, createdAt: 11)
        link.isRevoked = true
        try world.write { $0.links = [newer, newest, link] }
        #expect(try world.storage.links(of: group, limit: 2) == [newest, newer], "a revoked link takes no place")
    }
}
