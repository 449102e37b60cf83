import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// The content of the search index, compared with the log, and searches at the limits of its
/// queries.
@Suite struct SearchIndexTests {
    private let world: StorageWorld
    private let storage: SQLiteStorage
    private let lock: ChatFolder
    private let group: ConversationKey

    init() throws {
        self.world = try StorageWorld(.sqlite)
        self.storage = try #require(self.world.storage as? SQLiteStorage)
        self.lock = try #require(self.world.lock)
        self.group = try self.world.group(1, self.world.ann, self.world.bob)
    }

    private func say(_ texts: String..., kind: EventKind = .text) throws {
        for text in texts {
            try self.world.append(to: self.group, by: self.world.ann, kind: kind) { event, _ in event.body = #"{"text":"\#(text)"}"# }
        }
    }

    private func edit(_ seqs: some Sequence<Int64>, _ text: String) throws {
        var needs = Needs()
        needs.events = seqs.map { EventAddress(self.group, $0) }
        let facts = try self.storage.begin(needs)
        var changes = Changes()
        changes.targets = needs.events.compactMap { facts.events[$0] }.map { row in
            var row = row
            (row.body, row.state, row.editedAt) = (#"{"text":"\#(text)"}"#, .edited, 5)
            return row
        }
        _ = try self.storage.commit(changes)
    }

    /// Returns the number of updates until the index is complete.
    @discardableResult
    private func update(_ index: SearchIndex) throws -> Int {
        var count = 1
        while try index.update(at: 0) { count += 1 }
        return count
    }

    private func search(_ words: String, as user: UserKey? = nil, limit: Int = 99, configure: (inout SearchNeed) -> Void = { _ in })
        throws -> SearchPage
    {
        var need = SearchNeed(words: SearchWords(words))
        configure(&need)
        return try SQLiteReads(self.lock).search(need, as: user ?? self.world.ann, limit: limit)
    }

    private func found(_ words: String, as user: UserKey? = nil, configure: (inout SearchNeed) -> Void = { _ in }) throws -> [Int64] {
        try self.search(words, as: user, configure: configure).hits.map(\.view.seq)
    }

    /// Expects that the index has one document for each message with content, in its present form,
    /// and that the full-text index agrees with the documents.
    private func expectComplete(_ comment: Comment) throws {
        let file = try SQLiteConnection(path: self.lock.searchPath, isReader: false, cacheBytes: 1 << 20)
        let documents = try file.prepare("SELECT event & 4294967295, terms FROM document ORDER BY place").all {
            "\($0.int(0)) \($0.text(1))"
        }
        let messages = try self.storage.connection.prepare(
            "SELECT id & 4294967295, kind, body FROM event WHERE is_message = 1 AND state < 10 ORDER BY place"
        ).all { row in
            let text = ChatBody.searchText(kind: EventKind(rawValue: row.text(1)), body: row.text(2))
            return "\(row.int(0)) \(text.map { SearchText.terms(of: $0) } ?? "")"
        }
        #expect(documents == messages, comment)
        try file.execute("INSERT INTO posting (posting, rank) VALUES ('integrity-check', 1)")
    }

    // MARK: Content

    @Test func theIndexHasTheMessagesWithContent() throws {
        let index = try SearchIndex(self.lock)
        try self.update(index)
        try self.expectComplete("an empty log")
        try self.say("one", "two", "three")
        try self.world.append(to: self.group, by: self.world.ann, kind: .edit, ref: 1)
        try self.world.append(to: self.group, by: self.world.ann, kind: .image) { event, _ in event.body = "{}" }
        try self.update(index)
        try self.expectComplete("new messages")
        try self.edit([1, 2], "four five")
        try self.world.write { $0.blanks = [EventBlank(address: EventAddress(self.group, 3), state: .recalled)] }
        try self.update(index)
        try self.expectComplete("changed messages")
        // A message that changes twice, and one that is blanked after a change.
        try self.edit([1], "six")
        try self.edit([1, 2], "seven")
        try self.world.write { $0.blanks = [EventBlank(address: EventAddress(self.group, 2), state: .expired)] }
        try self.say("eight")
        try self.edit([6], "nine")
        try self.update(index)
        try self.expectComplete("several changes")
        #expect(try self.found("seven") == [1] && self.found("six") == [] && self.found("eight") == [] && self.found("nine") == [6])
    }

    /// A long log is indexed in parts, and each part can be searched.
    @Test func aLongLogIsIndexedInParts() throws {
        try self.world.append(2_500, to: self.group, by: self.world.ann) { event, _ in event.body = #"{"text":"word"}"# }
        let index = try SearchIndex(self.lock)
        for (hasMore, count) in [(true, 1_000), (true, 2_000), (false, 2_500)] {
            #expect(try index.update(at: 0) == hasMore)
            let page = try self.search("word", limit: 1)
            #expect(page.hits.map(\.view.seq) == [Int64(count)])
            #expect(page.indexedAt == (hasMore ? self.world.now + Int64(count) : nil))
        }
        try self.expectComplete("2,500 messages")
        // A part that is exactly full may have a successor.
        try self.world.append(1_000, to: self.group, by: self.world.ann) { event, _ in event.body = #"{"text":"word"}"# }
        #expect(try index.update(at: 0) && !index.update(at: 0))
    }

    /// Many changes are indexed in parts, in their order.
    @Test func manyChangesAreIndexedInParts() throws {
        try self.world.append(1_200, to: self.group, by: self.world.ann) { event, _ in event.body = #"{"text":"first"}"# }
        let index = try SearchIndex(self.lock)
        try self.update(index)
        try self.edit(1...1_200, "second")
        #expect(try index.update(at: 0) && !index.update(at: 0))
        #expect(try self.search("first").hits.isEmpty && self.search("second", limit: 9_999).hits.count == 512)
        try self.edit(1...1_200, "third")
        try self.edit(1...1_200, "fourth")
        try self.update(index)
        #expect(try self.search("third").hits.isEmpty)
        try self.expectComplete("two changes of each message")
    }

    /// Changes of messages that are not indexed yet need no removal: the messages are indexed in
    /// their present form.
    @Test func changesOfLaterMessagesAreIncluded() throws {
        try self.world.append(1_500, to: self.group, by: self.world.ann) { event, _ in event.body = #"{"text":"first"}"# }
        let index = try SearchIndex(self.lock)
        #expect(try index.update(at: 0))
        // The changes concern messages on both sides of the end of the first part.
        try self.edit([999, 1_000, 1_001, 1_500], "second")
        try self.world.write { changes in
            changes.blanks = [1, 1_002].map { EventBlank(address: EventAddress(self.group, $0), state: .recalled) }
        }
        try self.update(index)
        try self.expectComplete("changes around the end of a part")
        #expect(try self.found("second") == [1_500, 1_001, 1_000, 999])
    }

    /// `lastChange` is the last change that a completed update has read, so that changes before it
    /// can be removed.
    @Test func removedChangesAreIndexed() throws {
        let index = try SearchIndex(self.lock)
        try self.say("one", "two")
        try self.update(index)
        #expect(index.lastChange == 0)
        for round in 1...5 as ClosedRange<Int64> {
            try self.edit([1, 2], "round \(round)")
            _ = try index.update(at: 0)
            #expect(index.lastChange == 2 * (round - 1), "the transaction of this update could still fail")
            #expect(try self.storage.forgetTextChanges(before: index.lastChange, limit: 99) == (round == 1 ? 0 : round == 2 ? 1 : 2))
        }
        try self.update(index)
        #expect(index.lastChange == 10)
        try self.expectComplete("five changes")
        let again = try SearchIndex(self.lock)
        try self.update(again)
        #expect(again.lastChange == 10, "the position is stored")
    }

    /// Only committed batches are indexed.
    @Test func anAbandonedBatchIsNotIndexed() throws {
        let index = try SearchIndex(self.lock)
        try self.say("one")
        _ = try self.storage.begin(Needs())
        #expect(try !index.update(at: 0) && self.found("one") == [1], "a batch does not delay the index")
        var changes = Changes()
        changes.events = [
            EventRow(conversation: self.group, seq: 9, n: 9, sender: self.world.ann, at: 1, kind: .text, body: #"{"text":"never"}"#)
        ]
        #expect(throws: StorageError.self) { try self.storage.commit(changes) }
        try self.update(index)
        #expect(try self.found("never") == [])
        try self.expectComplete("a refused batch")
    }

    // MARK: Terms

    /// The index contains the terms of all texts, so other terms need another version of it. If
    /// this test fails, increase `SearchFile.version` and change both expectations.
    @Test func theTermsBelongToTheVersion() {
        let texts = [
            "Hello, ＷＯＲＬＤ! Don't 3.5 ﬁne", "ÉTÉ e\u{301}te\u{301} Straße İstanbul ΣΊΣΥΦΟΣ ёлка", "明天 カフェ ｶﾞｷﾞ 서울 \u{1109}\u{1165} สวัสดี ကမ္ဘာ",
            "😀 👍🏽 ❤️ ❤ ☝🏽 2️⃣ 👨\u{200D}👩\u{200D}👧 🇩🇪", "مَرْحَبًا שָׁלוֹם नमस्ते ① ²",
        ]
        #expect(SearchFile.version == 4)
        let terms = [
            "hello world don t 3 5 fine", "ete ete straße istanbul σισυφοσ елка", "明 天 カ フ ェ カ キ 서 울 서 ส ว ส ด က မ ဘ",
            "e1f600 e1f44d e2764 e261d 2 e1f468 e1f469 e1f467 e1f1e9 e1f1ea", "مرحبا שלום नमसत 1 2",
        ]
        #expect(texts.map { SearchText.terms(of: $0) } == terms)
    }

    /// The index of an earlier version, which did not have the terms of all emoji, is rebuilt.
    @Test func anIndexOfAnEarlierVersionIsRebuilt() throws {
        try self.say("with ❤️", "with love")
        try self.update(try SearchIndex(self.lock))
        do {
            let file = try SQLiteConnection(path: self.lock.searchPath, isReader: false, cacheBytes: 1 << 20)
            try file.execute(
                """
                INSERT INTO posting (posting) VALUES ('delete-all'); UPDATE document SET terms = 'with' WHERE place = 1;
                INSERT INTO posting (posting) VALUES ('rebuild'); UPDATE position SET version = 3
                """)
        }
        #expect(try self.found("❤️") == [], "the earlier index")
        try self.update(try SearchIndex(self.lock))
        #expect(try self.found("❤️") == [1] && self.found("with") == [2, 1])
        try self.expectComplete("a rebuilt index")
    }

    /// Terms of the scope are not found as words, and words do not restrict a search.
    @Test func wordsDoNotMatchTheScope() throws {
        let slot = try #require(try self.storage.slot(of: self.group))
        let sender = self.world.ann.rawValue
        try self.say("plain", "c\(slot) s\(sender) k74657874", "terms scope posting document")
        let index = try SearchIndex(self.lock)
        try self.update(index)
        for word in ["c\(slot)", "s\(sender)", "k74657874"] { #expect(try self.found(word) == [2], "\(word)") }
        for word in ["scope", "terms", "posting", "\"terms scope\"", "document"] { #expect(try self.found(word) == [3], "\(word)") }
        for text in ["c\(slot) OR plain", "plain NOT c\(slot)", "plain AND", "NEAR(plain)", "plain*", "^plain", "-plain", "terms:plain"] {
            let words = SearchWords(text)
            let expected = try self.world.storage.events(in: self.group, .from(1), as: self.world.ann, limit: 9)
                .filter { $0.row?.searchText.map { words.matches(in: $0) != nil } == true }.map(\.seq)
            #expect(try self.found(text) == expected.reversed(), "\(text)")
        }
    }

    /// Kinds of applications can contain characters that separate terms. Each kind is found alone.
    @Test func eachKindIsFoundAlone() throws {
        let names = ["text", "image", "x.a", "x.a-b", "x.a.b", "x.a b", "x.A", "x.ab", "x.\"a", "x.a*", "x.日本", "x.a'b"]
        let kinds = names.map { EventKind(rawValue: $0) }
        for kind in kinds { try self.say("word", kind: kind) }
        let index = try SearchIndex(self.lock)
        try self.update(index)
        for (number, kind) in kinds.enumerated() {
            let listed = try self.found("") { ($0.conversation, $0.kinds) = (self.group, [kind]) }
            #expect(listed == (kind.isMessage ? [Int64(number) + 1] : []), "\(kind)")
        }
        #expect(kinds.count { $0.isMessage } > 5)
        #expect(try self.found("") { ($0.conversation, $0.kinds) = (self.group, [EventKind(rawValue: "x.")]) } == [])
        #expect(try self.found("") { ($0.conversation, $0.kinds) = (self.group, Array(kinds.prefix(3))) } == [3, 2, 1])
    }

    /// A sender or a conversation whose number begins like another one is another one.
    @Test func numbersAreWholeTerms() throws {
        try self.world.addAccount(UserKey(110), "longer")
        try self.world.addAccount(UserKey(1), "shorter")
        for user in [1, 11, 110] as [Int64] {
            try self.world.append(to: self.group, by: UserKey(user)) { event, _ in event.body = #"{"text":"word"}"# }
        }
        let index = try SearchIndex(self.lock)
        try self.update(index)
        for (number, user) in [1, 11, 110].enumerated() {
            #expect(try self.found("word") { $0.sender = UserKey(Int64(user)) } == [Int64(number) + 1])
        }
        #expect(try self.found("word") { $0.sender = UserKey(0) } == [])
    }

    // MARK: Pages

    /// A search whose hits are mostly invisible ends with an empty page, which has a successor.
    @Test func aPageOfInvisibleHitsHasASuccessor() throws {
        try self.world.append(700, to: self.group, by: self.world.ann) { event, _ in event.body = #"{"text":"word"}"# }
        try self.world.modify(self.world.bob, self.group) { ($0.state, $0.leftSeq) = (.left, 5) }
        let index = try SearchIndex(self.lock)
        try self.update(index)
        let first = try self.search("word", as: self.world.bob)
        #expect(first.hits.isEmpty && first.next != nil && first.indexedAt == nil)
        var pages = 1
        let found = try Pages.all { (cursor: Int64?) in
            let page = try self.search("word", as: self.world.bob, limit: 2) { $0.cursor = cursor }
            pages += 1
            return (page.hits.map(\.view.seq), page.next)
        }
        #expect(found == [5, 4, 3, 2, 1] && pages < 9)
    }

    /// Cursors that no page returned have no hits or all hits.
    @Test(arguments: [(Int64.min, 0), (-1, 0), (0, 0), (1, 0), (2, 1), (4, 3), (99, 3), (.max, 3)])
    func anyCursorIsAPlace(cursor: Int64, count: Int) throws {
        try self.say("word", "word", "word")
        let index = try SearchIndex(self.lock)
        try self.update(index)
        let page = try self.search("word") { $0.cursor = cursor }
        #expect(page.hits.count == count && page.next == nil)
        #expect(try self.search("word", limit: 0).hits.isEmpty)
    }

    /// The times of a search are the first and the last ones that it finds.
    @Test(arguments: StorageKind.allCases) func theTimesOfASearchAreInclusive(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        try world.append(5, to: group, by: world.ann) { event, _ in event.body = #"{"text":"word"}"# }
        func found(_ from: Int64?, _ until: Int64?) throws -> [Int64] {
            try world.found("word", as: world.ann) { need in
                (need.from, need.until) = (from.map { world.now + $0 }, until.map { world.now + $0 })
            }
        }
        #expect(try found(2, 4) == [4, 3, 2] && found(3, 3) == [3] && found(4, 3) == [])
        #expect(try found(nil, 1) == [1] && found(5, nil) == [5] && found(6, nil) == [] && found(nil, 0) == [])
    }
}
