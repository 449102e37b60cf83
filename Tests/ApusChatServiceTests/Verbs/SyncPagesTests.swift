import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatService

/// The pages of `sync`.
@Suite struct SyncPagesTests {
    private func sync(_ world: ViewWorld, since: String? = nil, page: PageToken? = nil) throws -> SyncAnswer {
        let request = SyncRequest(since: try since.map { try #require(PageToken($0)) }, page: page)
        let answer = try SyncPages(context: world.context(of: 1)).answer(request)
        #expect(try JSONWriter.bytes(of: answer.json).count <= ChatLimits.answerBytes)
        return answer
    }

    /// Returns all pages of a sync, up to 100.
    private func pages(_ world: ViewWorld, since: String? = nil) throws -> [SyncAnswer] {
        var pages = [try self.sync(world, since: since)]
        while let page = pages.last?.page, pages.count < 100 { pages.append(try self.sync(world, page: page)) }
        #expect(Set(pages.map(\.token)).count == 1, "all pages have the position before the first one")
        return pages
    }

    private func world(_ count: Int64, pinned: Int64 = 0) throws -> ViewWorld {
        let world = try ViewWorld()
        for key in stride(from: 1, through: count, by: 1) {
            try world.conversation(
                key, members: [1], row: { $0.counters.lastAt = 100 + key }, member: { if key <= pinned { $0.pinnedAt = key } })
        }
        return world
    }

    private func refusal(_ body: () throws -> Void) -> ChatError? {
        do {
            try body()
            return nil
        } catch { return error as? ChatError }
    }

    // MARK: All heads

    @Test func anAccountHasItsNotesAtFirst() throws {
        let world = try ViewWorld()
        let answer = try self.sync(world)
        #expect(answer.heads.map(\.kind) == [.own] && answer.page == nil && answer.badge == 0)
        #expect(answer.token.rawValue == "e1.0")
    }

    /// Each case is the numbers of conversations and of pinned ones, and the numbers of heads of
    /// the pages. The conversation with oneself is one more.
    @Test(
        arguments: [
            (28, 0, [29]), (29, 0, [30]), (30, 0, [30, 1]), (229, 0, [30, 200]), (230, 0, [30, 200, 1]), (40, 10, [40, 1]),
            (39, 10, [40]), (50, 50, [51]), (50, 20, [50, 1]),
        ] as [(Int64, Int64, [Int])])
    func thePagesContainEachConversationOnce(count: Int64, pinned: Int64, sizes: [Int]) throws {
        let world = try self.world(count, pinned: pinned)
        let pages = try self.pages(world)
        #expect(pages.map(\.heads.count) == sizes)
        // Pinned conversations are first, the last pinned one at the top. The newest ones follow.
        let order = stride(from: pinned, to: 0, by: -1).map { $0 } + stride(from: count, to: pinned, by: -1).map { $0 } + [1_000_001]
        #expect(pages.flatMap(\.heads).map(\.conversation.number) == order)
        #expect(pages.map { $0.badge == nil } == pages.indices.map { $0 > 0 }, "on the first page only")
    }

    @Test func conversationsThatAreGoneAreNotListed() throws {
        let world = try self.world(2)
        try world.conversation(3, members: [1], member: { $0.isGone = true })
        try world.conversation(4, members: [1], row: { $0.counters.isDeleted = true })
        try world.conversation(5, members: [2])
        #expect(try self.sync(world).heads.map(\.conversation.number) == [2, 1, 1_000_001])
    }

    @Test func aConversationThatMovesBetweenTwoPagesIsPartOfTheNextSync() throws {
        let world = try self.world(40)
        let first = try self.sync(world)
        // The last conversation moves to the top after the first page is read.
        var counters = try #require(world.storage.head(of: UserKey(1), in: ConversationKey(1))?.conversation.counters)
        counters.lastAt = 1_000
        try world.change { $0.conversations = [ConversationChange(key: ConversationKey(1), counters: counters)] }
        let second = try self.sync(world, page: first.page)
        #expect(!second.heads.contains { $0.conversation.number == 1 })
        #expect(try self.sync(world, since: second.token.rawValue).heads.map(\.conversation.number) == [1])
    }

    /// Large heads: 20 drafts of 8,000 characters of three bytes do not fit into an answer.
    @Test func theBytesOfAPageAreBounded() throws {
        let world = try ViewWorld()
        let draft = String(repeating: "…", count: ChatLimits.draftLength)
        try world.change {
            $0.events = [
                EventRow(
                    conversation: ConversationKey(1_000_001), seq: 1, n: 0, sender: UserKey(1), at: 5, kind: .text,
                    body: #"{"draft":{"text":"\#(draft)"}}"#)
            ]
        }
        for key in 1...20 as ClosedRange<Int64> { try world.conversation(key, members: [1], member: { $0.draftSeq = 1 }) }
        for since in [nil, "e1.0"] {
            let pages = try self.pages(world, since: since)
            #expect(pages.count > 1)
            let numbers = pages.flatMap(\.heads).map(\.conversation.number)
            #expect(numbers.filter { $0 < 100 }.sorted() == Array(1...20), "\(since ?? "all")")
        }
    }

    // MARK: Changes

    @Test func changesAreThoseAfterThePosition() throws {
        let world = try self.world(3)
        #expect(try self.sync(world, since: "e1.3").heads.isEmpty)
        #expect(try self.sync(world, since: "e1.2").heads.map(\.conversation.number) == [3])
        #expect(try self.sync(world, since: "e1.0").heads.map(\.conversation.number) == [1, 2, 3])
    }

    @Test func tombstonesAreOnThePageOfTheirKeys() throws {
        let world = try ViewWorld()
        let count = Int64(ChatLimits.headsPage) + 20
        for key in 1...count { try world.conversation(key, members: [1], member: { $0.isGone = key % 2 == 0 }) }
        let pages = try self.pages(world, since: "e1.0")
        #expect(pages.count == 2)
        #expect(pages.flatMap(\.gone).map(\.number) == (1...count).filter { $0 % 2 == 0 })
        #expect(pages.flatMap(\.heads).map(\.conversation.number) == (1...count).filter { $0 % 2 == 1 })
        #expect(pages[0].gone.allSatisfy { $0.number <= Int64(ChatLimits.headsPage) })
    }

    @Test func positionsThatAreNotKnownAreRefused() throws {
        let world = try self.world(3)
        world.storage.oldestPosition = 2
        for since in ["e1.1", "e1.4", "e1.-1", "e2.3", "E1.3", "e1.x", "e1.9223372036854775808", "e1", "e1.", ".3", "e1.2.1", "x"] {
            let error = self.refusal { _ = try self.sync(world, since: since) }
            #expect(error?.code == .resync && error?.field == "since", "\(since)")
        }
        #expect(try self.sync(world, since: "e1.2").heads.count == 1)
    }

    // MARK: Forged pages

    @Test(arguments: [
        "h", "h~", "h~~~~", "h~e1.1~0~0", "h~e1.1~0~0~0~0", "h~e1~0~0~0", "h~e1.1~x~0~0", "h~e1.1~0~0~9223372036854775808", "h~.1~0~0~0",
        "c", "c~", "c~e1.0~e1.1", "c~e1.0~e1.1~0~0", "c~e1~e1.1~0", "c~e1.0~e1~0", "c~e1.0~e1.1~", "c~e1.0~e1.1~1.5", "k~5", "~", "x",
        "h~e1.1~+~0~0", "H~e1.1~0~0~0",
    ]) func aPageThatNoAnswerHadIsRefused(text: String) throws {
        let world = try self.world(1)
        let error = self.refusal { _ = try self.sync(world, page: PageToken(text)) }
        #expect(error?.code == .badRequest && error?.field == "page")
    }

    /// Forged tokens with extreme numbers and other epochs.
    @Test(arguments: [
        "h~e1.1~9223372036854775807~9223372036854775807~9223372036854775807",
        "h~e1.1~-9223372036854775808~-9223372036854775808~-9223372036854775808", "h~e9.1~0~0~0", "c~e1.0~e9.9~-9223372036854775808",
        "c~e1.0~e1.0~9223372036854775807",
    ]) func aMadeUpPageShowsTheOwnConversationsOnly(text: String) throws {
        let world = try self.world(3)
        try world.conversation(9, members: [2])
        let answer = try self.sync(world, page: PageToken(text))
        #expect(answer.heads.allSatisfy { [1, 2, 3, 1_000_001].contains($0.conversation.number) })
    }

    @Test func aPageOfChangesOfAnotherEpochIsRefused() throws {
        let world = try self.world(3)
        #expect(self.refusal { _ = try self.sync(world, page: PageToken("c~e0.1~e1.1~0")) }?.code == .resync)
    }
}

/// The texts of pages, and the sizes of answers.
@Suite struct PageTextTests {
    @Test func keysAreReadBack() throws {
        for key in [0, 1, -1, .max, .min] as [Int64] { #expect(try PageText.key(PageText.token(after: key)) == key) }
        #expect(try PageText.key(nil) == nil)
        for text in ["k", "k~", "k~x", "k~1~2", "h~1", "k~0x1", "k~1 "] {
            guard let token = PageToken(text) else { continue }
            #expect(throws: ChatError.self, "\(text)") { try PageText.key(token) }
        }
    }

    @Test func fieldsThatHaveNoTokenAreAnErrorOfTheServer() {
        #expect { try PageText.token([String(repeating: "a", count: 257)]) } throws: { ($0 as? ChatError)?.code == .internal }
        #expect { try PageText.token(["ä"]) } throws: { ($0 as? ChatError)?.code == .internal }
    }

    /// Each case is the sizes of values, the bound, and the number of values that fit. Each value
    /// also needs a comma.
    @Test(
        arguments: [
            ([], 10, 0), ([9], 10, 1), ([10], 10, 1), ([1_000], 10, 1), ([4, 4], 10, 2), ([4, 5], 10, 1), ([1_000, 1], 10, 1),
            ([0, 0, 0], 2, 2), ([4, 4, 4], 0, 1),
        ] as [([Int], Int, Int)])
    func atLeastOneElementFits(sizes: [Int], bytes: Int, count: Int) { #expect(AnswerSize.fitting(sizes, bytes) == count) }
}
