import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// The tables that the storage derives from the rows of a batch: mentions, pins, references to
/// blobs, changes of texts, quotas, the erased part of logs, and the index of names.
@Suite struct DerivedTableTests {
    private let world: StorageWorld
    private let storage: SQLiteStorage
    private let group: ConversationKey

    init() throws {
        self.world = try StorageWorld(.sqlite)
        self.storage = try #require(self.world.storage as? SQLiteStorage)
        self.group = try self.world.group(1, self.world.ann, self.world.bob, self.world.eve)
    }

    /// Returns the rows of a query, each as the list of its numbers.
    private func rows(_ sql: String, columns: Int32 = 1) throws -> [[Int64]] {
        try self.storage.connection.prepare(sql).all { row in (0..<columns).map { row.int($0) } }
    }

    private func numbers(_ sql: String) throws -> [Int64] { try self.rows(sql).map { $0[0] } }

    private func blank(_ seq: Int64, _ state: EventState = .recalled) throws {
        try self.world.write { $0.blanks = [EventBlank(address: EventAddress(self.group, seq), state: state)] }
    }

    // MARK: Mentions

    /// A message that mentions all members has one row, of the user 0, regardless of its other
    /// mentions.
    @Test func eachMentionHasOneRow() throws {
        let (ann, bob, eve) = (self.world.ann, self.world.bob, self.world.eve)
        let messages: [(mentions: [UserKey], all: Bool)] = [
            ([], false), ([bob], false), ([bob, eve, bob], false), ([], true), ([bob, eve], true), ([ann], false),
        ]
        for message in messages {
            try self.world.append(to: self.group, by: ann) { event, _ in (event.mentions, event.mentionsAll) = message }
        }
        let slot = try #require(try self.storage.slot(of: self.group))
        let found = try self.rows("SELECT user, slot, n, event & 4294967295, sender FROM mention ORDER BY n, user", columns: 5)
        let expected: [(user: Int64, n: Int64)] = [(12, 2), (12, 3), (13, 3), (0, 4), (0, 5), (11, 6)]
        #expect(found == expected.map { [$0.user, slot, $0.n, $0.n, 11] })
        // The blank of a message removes its rows and no others.
        for (seq, rest) in [(3, [2, 4, 5, 6]), (4, [2, 5, 6]), (1, [2, 5, 6]), (6, [2, 5])] as [(Int64, [Int64])] {
            try self.blank(seq)
            #expect(try self.numbers("SELECT n FROM mention ORDER BY n") == rest)
        }
    }

    /// The ordinal of a mention is that of its message, which differs from the `seq` after a
    /// change. A change has no mentions.
    @Test func aMentionHasTheOrdinalOfItsMessage() throws {
        try self.world.append(to: self.group, by: self.world.ann)
        try self.world.append(2, to: self.group, by: self.world.ann, kind: .edit, ref: 1) { event, _ in
            event.mentions = [self.world.bob]
        }
        try self.world.append(to: self.group, by: self.world.ann) { event, _ in event.mentions = [self.world.bob] }
        #expect(try self.rows("SELECT n, event & 4294967295 FROM mention", columns: 2) == [[2, 4]])
        try self.blank(2)
        #expect(try self.numbers("SELECT count(*) FROM mention") == [1], "the blank of a change")
        try self.blank(4)
        #expect(try self.numbers("SELECT count(*) FROM mention") == [0])
    }

    /// An edit does not change who was mentioned.
    @Test func anEditKeepsMentions() throws {
        try self.world.append(to: self.group, by: self.world.ann) { event, _ in event.mentions = [self.world.bob] }
        try self.world.change(EventAddress(self.group, 1)) { event in
            (event.body, event.state, event.editedAt) = (#"{"text":"@eve"}"#, .edited, 5)
        }
        #expect(try self.numbers("SELECT user FROM mention") == [12])
        #expect(try self.world.head(self.world.bob, self.group)?.mentions == 1)
    }

    // MARK: Pins

    @Test func aPinHasOneRowWhileItIsPinned() throws {
        try self.world.append(3, to: self.group, by: self.world.ann)
        func pinned() throws -> [Int64] { try self.numbers("SELECT event & 4294967295 FROM pin ORDER BY 1") }
        for _ in 0..<2 {
            for seq: Int64 in [3, 1] { try self.world.change(EventAddress(self.group, seq)) { $0.isPinned = true } }
            #expect(try pinned() == [1, 3])
        }
        // Another change of a pinned message keeps its row.
        try self.world.change(EventAddress(self.group, 1)) { $0.reactions = [ReactionCount(key: "+", count: 1)] }
        #expect(try pinned() == [1, 3])
        try self.world.change(EventAddress(self.group, 3)) { $0.isPinned = false }
        #expect(try pinned() == [1])
        try self.blank(2)
        #expect(try pinned() == [1])
        try self.blank(1)
        #expect(try pinned() == [])
    }

    // MARK: References to blobs

    @Test func aReferenceHasOneRowAndEndsWithItsEvent() throws {
        let blobs = try ["a", "b"].map { try #require(BlobID(String(repeating: $0, count: 64))) }
        try self.world.append(3, to: self.group, by: self.world.ann)
        let references = [(1, 0), (1, 0), (1, 1), (2, 0), (3, 1)].map { seq, blob in
            BlobReference(event: EventAddress(self.group, Int64(seq)), blob: blobs[blob])
        }
        try self.world.write { $0.blobReferences = references }
        try self.world.write { $0.blobReferences = references }
        let sql =
            "SELECT r.event & 4294967295, b.digest = '\(blobs[0].rawValue)' FROM blob_ref r JOIN blob b ON b.id = r.blob ORDER BY 1, 2"
        #expect(try self.rows(sql, columns: 2) == [[1, 0], [1, 1], [2, 1], [3, 0]])
        try self.blank(1)
        #expect(try self.rows(sql, columns: 2) == [[2, 1], [3, 0]])
        #expect(try self.numbers("SELECT count(*) FROM blob") == [2], "the row of a blob remains until its collection")
    }

    // MARK: Changes of texts

    /// Only changes of texts are listed for the search index.
    @Test func aChangedTextIsListed() throws {
        try self.world.append(3, to: self.group, by: self.world.ann)
        func changes() throws -> [Int64] { try self.numbers("SELECT event & 4294967295 FROM text_change ORDER BY number") }
        let address = EventAddress(self.group, 2)
        try self.world.change(address) { $0.isPinned = true }
        try self.world.change(address) { $0.reactions = [ReactionCount(key: "+", count: 1)] }
        try self.world.annotate(self.world.bob, address) { $0.isHidden = true }
        #expect(try changes() == [])
        try self.world.change(address) { ($0.body, $0.state, $0.editedAt) = (#"{"text":"new"}"#, .edited, 5) }
        #expect(try changes() == [2])
        try self.blank(3)
        try self.blank(1)
        #expect(try changes() == [2, 3, 1])
        #expect(try self.numbers("SELECT number FROM text_change ORDER BY number") == [1, 2, 3])
        #expect(try self.storage.forgetTextChanges(before: 3, limit: 9) == 2)
        try self.blank(2)
        #expect(try self.numbers("SELECT number FROM text_change ORDER BY number") == [3, 4], "numbers increase")
    }

    // MARK: The erased part of a log

    /// The position up to which no message has content never passes one that has.
    @Test func theErasedPartEndsBeforeTheFirstContent() throws {
        func kept() throws -> Int64? { try self.numbers("SELECT kept_seq FROM counter WHERE member_count = 3").first }
        try self.world.append(2, to: self.group, by: self.world.ann)
        try self.world.append(to: self.group, by: self.world.ann, kind: .react, ref: 1)
        try self.world.append(2, to: self.group, by: self.world.ann)
        #expect(try kept() == 0)
        for (seq, expected) in [(2, 0), (1, 3), (5, 3), (4, 5)] as [(Int64, Int64)] {
            try self.blank(seq, .expired)
            #expect(try kept() == expected, "after the blank of \(seq)")
        }
        // Later messages are found, and the end of the log is not passed.
        try self.world.append(2, to: self.group, by: self.world.ann)
        #expect(try self.storage.events(of: self.group, before: .max, limit: 9).map(\.seq) == [6, 7])
        try self.blank(7)
        #expect(try kept() == 5)
        try self.blank(6)
        #expect(try kept() == 7)
        #expect(try self.storage.events(of: self.group, before: .max, limit: 9) == [])
        // The counters of a later batch do not set it back.
        try self.world.append(to: self.group, by: self.world.ann)
        #expect(try kept() == 7 && self.storage.events(of: self.group, before: .max, limit: 9).map(\.seq) == [8])
    }

    /// A blank examines at most 10,000 events, and the next one continues.
    @Test func theErasedPartGrowsInSteps() throws {
        func kept() throws -> Int64? { try self.numbers("SELECT kept_seq FROM counter WHERE member_count = 3").first }
        try self.world.append(to: self.group, by: self.world.ann)
        try self.world.append(10_005, to: self.group, by: self.world.ann, kind: .react, ref: 1) { event, _ in event.body = "" }
        try self.world.append(to: self.group, by: self.world.ann)
        try self.blank(1)
        #expect(try kept() == 10_000)
        #expect(try self.storage.events(of: self.group, before: .max, limit: 9).map(\.seq) == [10_007])
        try self.blank(1)
        #expect(try kept() == 10_006)
        try self.blank(10_007)
        #expect(try kept() == 10_007)
    }

    // MARK: Quotas

    @Test func aQuotaFollowsUploadsAndCollections() throws {
        let blobs = try (1...3 as ClosedRange<Int64>).map { number in
            let id = try #require(BlobID(String(repeating: "\(number)", count: 64)))
            return BlobRow(id: id, size: 10 * number, type: "image/png", createdAt: 1)
        }
        func quotas() throws -> [[Int64]] { try self.rows("SELECT user, bytes FROM quota ORDER BY user", columns: 2) }
        try self.world.write {
            $0.credentials.uploads = [(blobs[0], self.world.ann), (blobs[1], self.world.ann), (blobs[1], self.world.bob)]
        }
        #expect(try quotas() == [[11, 30], [12, 20]])
        for _ in 0..<2 { try self.world.write { $0.credentials.uploads = [(blobs[1], self.world.bob), (blobs[0], self.world.ann)] } }
        #expect(try quotas() == [[11, 30], [12, 20]], "a blob counts once for each user")
        try self.world.write { $0.credentials.collectedBlobs = [blobs[1].id, blobs[2].id, blobs[1].id] }
        #expect(try quotas() == [[11, 10], [12, 0]])
        #expect(try self.rows("SELECT blob, user FROM upload", columns: 2).count == 1)
        try self.world.write { $0.credentials.uploads = [(blobs[1], self.world.bob)] }
        #expect(try quotas() == [[11, 10], [12, 20]], "the blob was uploaded again")
    }

    // MARK: Names

    /// The index of names has the present name and nickname of each account, in each state of it.
    @Test func theIndexOfNamesFollowsAccounts() throws {
        func found(_ text: String) throws -> [Int64] {
            let query = try #require(NameGrams.query(for: text))
            let statement = try self.storage.connection.prepare("SELECT rowid FROM name_search WHERE name_search MATCH ?1 ORDER BY rowid")
            statement.bind(1, query)
            return try statement.all { $0.int(0) }
        }
        var row = try #require(try self.storage.accounts([self.world.ann]).first)
        for (name, nickname, isFound) in [
            ("ann", "Blue", ["ann", "blue"]), ("ann", "Green", ["ann", "green"]), ("anna", "Green", ["anna", "green"]),
            ("anna", "", ["anna"]), ("x", "Green", ["green"]), ("x", "Green", ["green"]),
        ] {
            (row.name, row.nickname) = (UserName(prepared: name), nickname)
            for state in [AccountState.active, .suspended, .deleted] {
                row.state = state
                let changed = row
                try self.world.write { $0.accounts = [changed] }
                for text in ["blue", "green", "anna"] {
                    #expect(try found(text) == (isFound.contains(text) ? [11] : []), "\(text) for \(name) \(nickname)")
                }
            }
        }
        #expect(try self.storage.check().isEmpty)
    }
}
