import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// The search for messages by words, among those that the user sees.
@Suite struct SearchTests {
    private static func text(_ text: String) -> String { #"{"text":"\#(text)"}"# }

    private func say(_ text: String, in key: ConversationKey, by user: UserKey, _ world: StorageWorld) throws {
        try world.append(to: key, by: user) { event, _ in event.body = Self.text(text) }
    }

    @Test(arguments: StorageKind.allCases) func wordsAreFoundInAnyLanguage(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        let texts = [
            "The quick brown fox", "Über den Fluß", "我们明天在上海开会", "今日は東京で会いましょう", "내일 서울에서 만나요", "поехали домой", "see you at 5 😀👍🏽",
            "The quiet town",
        ]
        for text in texts { try self.say(text, in: group, by: world.ann, world) }
        let rows: [(String, [Int64])] = [
            ("quick", [1]), ("QUICK fox", [1]), ("qui", [8, 1]), ("qu", []), ("the", [8, 1]), ("\"qui\"", []), ("\"brown fox\"", [1]),
            ("\"fox brown\"", []), ("fox quick", [1]), ("quick town", []), ("uber", [2]), ("ÜBER", [2]), ("海", [3]), ("上海", [3]),
            ("明天 上海", [3]), ("上天", []), ("会", [4, 3]), ("東京", [4]), ("서울", [5]), ("울", [5]), ("домой", [6]), ("ДОМ", [6]),
            ("😀", [7]), ("👍", [7]), ("5", [7]), ("...", []), ("", []),
        ]
        for (words, seqs) in rows { #expect(try world.found(words, as: world.ann) == seqs, "\(words)") }
    }

    @Test(arguments: StorageKind.allCases) func onlyVisibleMessagesAreFound(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        for number in 1...6 { try self.say("secret \(number)", in: group, by: world.ann, world) }
        #expect(try world.found("secret", as: world.bob) == [6, 5, 4, 3, 2, 1])
        #expect(try world.found("secret", as: world.eve) == [])
        #expect(try world.found("secret", as: world.eve) { $0.conversation = group } == [])
        try world.modify(world.bob, group) { $0.minSeq = 2 }
        try world.annotate(world.bob, EventAddress(group, 3)) { $0.isHidden = true }
        #expect(try world.found("secret", as: world.bob) == [6, 5, 4, 2])
        try world.modify(world.bob, group) { ($0.state, $0.leftSeq) = (.left, 5) }
        #expect(try world.found("secret", as: world.bob) == [5, 4, 2])
        for state in [MemberState.invited, .requested, .banned] {
            try world.modify(world.bob, group) { $0.state = state }
            #expect(try world.found("secret", as: world.bob) == [])
        }
        try world.modify(world.bob, group) { ($0.state, $0.isGone) = (.joined, true) }
        #expect(try world.found("secret", as: world.bob) == [])
        #expect(try world.found("secret", as: world.ann).count == 6)
    }

    @Test(arguments: StorageKind.allCases) func theIndexFollowsChanges(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        for text in ["first draft", "second draft", "third draft"] { try self.say(text, in: group, by: world.ann, world) }
        #expect(try world.found("draft", as: world.bob) == [3, 2, 1])
        try world.change(EventAddress(group, 1)) { event in
            (event.original, event.body, event.state, event.editedAt) = (event.body, Self.text("final words"), .edited, world.now)
        }
        try world.write { $0.blanks = [EventBlank(address: EventAddress(group, 2), state: .expired)] }
        #expect(try world.found("draft", as: world.bob) == [3])
        #expect(try world.found("final", as: world.bob) == [1])
        // The message changes before it is indexed.
        try self.say("late draft", in: group, by: world.ann, world)
        try world.change(EventAddress(group, 4)) { event in
            (event.original, event.body, event.state, event.editedAt) = (event.body, Self.text("late words"), .edited, world.now)
        }
        #expect(try world.found("late", as: world.bob) == [4])
        #expect(try world.found("words", as: world.bob) == [4, 1])
        #expect(try world.found("draft", as: world.bob) == [3])
    }

    @Test(arguments: StorageKind.allCases) func aSearchIsRestricted(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let one = try world.group(1, world.ann, world.bob)
        let two = try world.group(2, world.ann, world.bob)
        for number in 1...3 {
            try self.say("tea \(number)", in: one, by: number == 2 ? world.bob : world.ann, world)
            try self.say("tea \(number)", in: two, by: world.ann, world)
        }
        try world.append(to: one, by: world.bob, kind: EventKind(rawValue: "image")) { event, _ in
            event.body = #"{"blob":"x","text":"tea pot"}"#
        }
        #expect(try world.search("tea", as: world.ann).hits.count >= 6)
        #expect(try world.found("tea", as: world.ann) { ($0.conversation, $0.kinds) = (two, [.text]) } == [3, 2, 1])
        #expect(try world.found("tea", as: world.ann) { ($0.sender, $0.kinds) = (world.bob, [.text]) } == [2])
        #expect(try world.found("tea", as: world.ann) { ($0.from, $0.conversation) = (world.now + 2, two) } == [3, 2])
        #expect(try world.found("tea", as: world.ann) { ($0.until, $0.conversation) = (world.now + 2, two) } == [2, 1])
        #expect(try world.found("tea", as: world.ann) { $0.sender = world.eve } == [])
        #expect(try world.found("tea", as: world.ann) { $0.kinds = [.poll] } == [])
    }

    /// A search without words finds all messages of the kinds in the conversation that the user
    /// sees, including those without a text.
    @Test(arguments: StorageKind.allCases) func messagesAreListedByTheirKind(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let one = try world.group(1, world.ann, world.bob)
        let two = try world.group(2, world.ann)
        for key in [one, two, one, one] {
            try world.append(to: key, by: world.ann, kind: .image) { event, _ in event.body = #"{"blob":"x"}"# }
        }
        try self.say("a text", in: one, by: world.ann, world)
        try world.append(to: one, by: world.bob, kind: .audio) { event, _ in event.body = #"{"blob":"y","voice":true}"# }
        func listed(_ kinds: [EventKind], as user: UserKey) throws -> [Int64] {
            try world.found("", as: user) { ($0.conversation, $0.kinds) = (one, kinds) }
        }
        #expect(try listed([.image], as: world.bob) == [3, 2, 1])
        #expect(try listed([.image, .audio], as: world.ann) == [5, 3, 2, 1])
        #expect(try listed([.text], as: world.ann) == [4])
        #expect(try listed([.image], as: world.eve) == [])
        #expect(try listed([], as: world.ann) == [])
        #expect(try world.found("", as: world.ann) { $0.kinds = [.image] } == [], "not in all conversations")
        try world.write { $0.blanks = [EventBlank(address: EventAddress(one, 2), state: .expired)] }
        try world.annotate(world.bob, EventAddress(one, 1)) { $0.isHidden = true }
        #expect(try listed([.image], as: world.bob) == [3])
        let page = try world.search("", as: world.ann, limit: 1) { ($0.conversation, $0.kinds) = (one, [.image]) }
        #expect(page.hits.map(\.view.seq) == [3] && page.next != nil)
        let rest = try world.found("", as: world.ann) { ($0.conversation, $0.kinds, $0.cursor) = (one, [.image], page.next) }
        #expect(rest == [1])
    }

    @Test(arguments: StorageKind.allCases) func pagesFollowEachOther(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        for number in 1...150 { try self.say("line \(number % 2 == 0 ? "even" : "odd")", in: group, by: world.ann, world) }
        var seqs: [Int64] = []
        var cursor: Int64?
        repeat {
            let page = try world.search("even", as: world.ann, limit: 20) { $0.cursor = cursor }
            seqs += page.hits.map(\.view.seq)
            cursor = page.next
        } while cursor != nil && seqs.count <= 150
        #expect(seqs == Array(stride(from: 150, through: 2, by: -2)))
    }

    /// The user has hits in more conversations than one query of the index covers.
    @Test func manyConversationsAreSearchedInTheOrderOfTime() throws {
        let world = try StorageWorld(.sqlite)
        let keys = try (1...900).map { try world.group(Int64($0), world.ann) }
        for round in 0..<2 { for key in keys { try self.say("word \(round)", in: key, by: world.ann, world) } }
        var found: [Int64] = []
        var cursor: Int64?
        repeat {
            let page = try world.search("word", as: world.ann, limit: 30) { $0.cursor = cursor }
            found += page.hits.map(\.conversation.rawValue)
            cursor = page.next
        } while cursor != nil && found.count <= 2_000
        #expect(found == Array((1...900).reversed()) + Array((1...900).reversed()))
    }

    @Test func theAnswerReportsThatTheIndexIsBehind() throws {
        let world = try StorageWorld(.sqlite)
        let group = try world.group(1, world.ann)
        try self.say("one", in: group, by: world.ann, world)
        #expect(try world.search("one", as: world.ann).indexedAt == nil)
        try self.say("two", in: group, by: world.ann, world)
        let lock = try #require(world.lock)
        let reads = try SQLiteReads(lock)
        #expect(try reads.search(SearchNeed(words: SearchWords("two")), as: world.ann, limit: 9).indexedAt == world.now + 1)
        #expect(try world.found("two", as: world.ann) == [2])
        #expect(try world.storage.search(SearchNeed(words: SearchWords("two")), as: world.ann, limit: 9).indexedAt == 0, "not attached")
    }

    /// An index of other data or of another version, or a damaged one, is rebuilt.
    @Test func theIndexIsRebuilt() throws {
        let world = try StorageWorld(.sqlite)
        let group = try world.group(1, world.ann)
        try self.say("hello", in: group, by: world.ann, world)
        #expect(try world.found("hello", as: world.ann) == [1])
        let lock = try #require(world.lock)
        try (world.storage as? SQLiteStorage)?.renewEpoch()
        world.forgetIndex()
        let index = try SearchIndex(lock)
        let need = SearchNeed(words: SearchWords("hello"))
        #expect(try SQLiteReads(lock).search(need, as: world.ann, limit: 9).indexedAt == 0)
        while try index.update(at: 0) {}
        #expect(try SQLiteReads(lock).search(need, as: world.ann, limit: 9).hits.count == 1)
    }

    @Test func aDamagedIndexIsRebuilt() throws {
        let world = try StorageWorld(.sqlite)
        let lock = try #require(world.lock)
        let group = try world.group(1, world.ann)
        try self.say("hello", in: group, by: world.ann, world)
        try TemporaryFolder.write([UInt8](repeating: 0x41, count: 8_192), to: lock.searchPath)
        #expect(try world.found("hello", as: world.ann) == [1])
    }

    /// The indexed changes are removed except the last one, which keeps the numbers increasing.
    @Test func seenChangesAreForgotten() throws {
        let world = try StorageWorld(.sqlite)
        let group = try world.group(1, world.ann)
        for number in 1...3 { try self.say("word \(number)", in: group, by: world.ann, world) }
        func edit(_ seq: Int64, _ text: String) throws {
            try world.change(EventAddress(group, seq)) { event in
                (event.body, event.state, event.editedAt) = (Self.text(text), .edited, world.now)
            }
        }
        #expect(try world.found("word", as: world.ann) == [3, 2, 1])
        for seq in 1...3 { try edit(Int64(seq), "changed") }
        #expect(try world.found("changed", as: world.ann) == [3, 2, 1])
        let storage = try #require(world.storage as? SQLiteStorage)
        #expect(try storage.forgetTextChanges(before: 3, limit: 1) == 1)
        #expect(try storage.forgetTextChanges(before: 3, limit: 9) == 1)
        #expect(try storage.forgetTextChanges(before: 3, limit: 9) == 0)
        try edit(2, "again")
        #expect(try world.found("again", as: world.ann) == [2])
    }
}
