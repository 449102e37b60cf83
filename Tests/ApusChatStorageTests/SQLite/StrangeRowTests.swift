import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// Rows that no version of the server writes, as after a damaged disk or a change by hand. Each
/// read returns values or an error; none traps.
@Suite(.timeLimit(.minutes(5))) struct StrangeRowTests {
    /// A world with a row in each table that the storage reads.
    private static func world() throws -> (world: StorageWorld, storage: SQLiteStorage, blob: BlobID) {
        let world = try StorageWorld(.sqlite)
        let storage = try #require(world.storage as? SQLiteStorage)
        let blob = try #require(BlobID(String(repeating: "0f", count: 32)))
        let group = try world.group(7, world.ann, world.bob) { row in
            row.profile.title = "Group"
            row.profile.avatar = blob
            row.settings.listed = true
            (row.counters.linkCount, row.counters.callSeq) = (1, 3)
        }
        let hash = try #require(RequestHash(bytes: [UInt8](repeating: 3, count: 32)))
        let id = try #require(ClientID("m1"))
        try world.append(to: group, by: world.ann) { event, changes in
            (event.clientID, event.hash, event.mentions, event.mentionsAll) = (id, hash, [world.bob], true)
            (event.expiresAt, event.votes) = (world.now, [1, 0])
            changes.blobReferences = [BlobReference(event: event.address, blob: blob)]
        }
        try world.append(3, to: group, by: world.bob)
        try world.append(to: group, by: world.ann, kind: .edit, ref: 1)
        try world.append(to: group, by: world.bob) { event, _ in event.thread = 1 }
        try world.change(EventAddress(group, 1)) { event in
            (event.original, event.isPinned, event.replyCount, event.closesAt) = (#"{"text":"first"}"#, true, 1, world.now)
            event.reactions = [ReactionCount(key: "👍", count: 1)]
        }
        try world.annotate(world.bob, EventAddress(group, 1)) { row in (row.reactions, row.votes) = (["👍"], 1) }
        try world.write { changes in
            var contact = ContactRow(address: ContactAddress(owner: world.ann, peer: world.bob))
            contact.relation = .friend
            changes.contacts = [contact]
            changes.links = [LinkRow(code: "k7Qm2ZtX9bVw4NsA", conversation: group, creator: world.ann, createdAt: 1, role: .member)]
            changes.requests = [
                RequestRow(
                    address: RequestAddress(world.ann, id), hash: hash, answer: StoredAnswer(conversation: group, seq: 1, n: 1, at: 2),
                    at: 2)
            ]
            changes.scheduled = [
                ScheduledRow(
                    address: ScheduledAddress(world.ann, id), conversation: group, kind: .text, body: #"{"text":"x"}"#, sendAt: 5,
                    hash: hash)
            ]
            changes.reports = [ReportRow(reporter: world.bob, subject: world.ann, event: EventAddress(group, 1), reason: "spam", at: 3)]
            changes.credentials.credentials = [CredentialRow(user: world.ann, password: "hash", passwordChangedAt: 1)]
            changes.credentials.devices = [DeviceRow(key: DeviceKey(5), user: world.ann, name: "N", platform: "web", at: 1)]
            changes.credentials.pushes = [(DeviceKey(5), "{}")]
            changes.credentials.codes = [CodeRow(user: world.ann, hash: [1, 2], purpose: .recovery)]
            changes.credentials.invitations = [InvitationRow(hash: [3], createdAt: 1, expiresAt: 2)]
            changes.credentials.uploads = [(BlobRow(id: blob, size: 9, type: "image/png", createdAt: 1), world.ann)]
        }
        return (world, storage, blob)
    }

    /// Performs each kind of read once. Returns the errors.
    private func read(_ world: StorageWorld, _ storage: SQLiteStorage, _ blob: BlobID) -> [StorageError] {
        let (group, user) = (ConversationKey(7), world.bob)
        let id = ClientID("m1")
        var errors: [StorageError] = []
        func attempt(_ body: () throws(StorageError) -> Void) {
            do throws(StorageError) { try body() } catch { errors.append(error) }
        }
        attempt { () throws(StorageError) in _ = try storage.position() }
        for person in [world.ann, user] {
            attempt { () throws(StorageError) in _ = try storage.heads(of: person, after: nil, limit: 9) }
            attempt { () throws(StorageError) in
                _ = try storage.changes(of: person, after: try storage.position(), cursor: nil, limit: 9)
            }
            attempt { () throws(StorageError) in _ = try storage.head(of: person, in: group) }
            attempt { () throws(StorageError) in _ = try storage.badge(of: person, at: 0) }
            for selection in [.from(1), .through(9), .thread(1, from: 1), .threadEnd(1, through: .max), .edits(of: 1), .pinned]
                as [EventSelection]
            {
                attempt { () throws(StorageError) in _ = try storage.events(in: group, selection, as: person, limit: 9) }
            }
            attempt { () throws(StorageError) in _ = try storage.conversations(of: person) }
            attempt { () throws(StorageError) in _ = try storage.contacts(of: person, after: nil, limit: 9) }
            attempt { () throws(StorageError) in _ = try storage.scheduled(of: person, limit: 9) }
            attempt { () throws(StorageError) in _ = try storage.memberships(of: person, after: nil, limit: 9) }
            attempt { () throws(StorageError) in _ = try storage.mayRead(BlobNeed(user: person, blob: blob)) }
            attempt { () throws(StorageError) in
                _ = try storage.events(of: group, by: person, after: 0, changes: true, limit: 9)
            }
            attempt { () throws(StorageError) in _ = try storage.credential(of: person) }
            attempt { () throws(StorageError) in _ = try storage.devices(of: person, limit: 9) }
            attempt { () throws(StorageError) in _ = try storage.pushDevices(of: person, limit: 9) }
            attempt { () throws(StorageError) in _ = try storage.code([1, 2], of: person) }
            attempt { () throws(StorageError) in _ = try storage.uploadedBytes(of: person) }
            attempt { () throws(StorageError) in _ = try storage.uploads(of: person, after: 0, limit: 9) }
        }
        attempt { () throws(StorageError) in
            _ = try storage.members(of: group, in: [.joined, .banned, .invited], containing: nil, after: nil, limit: 9)
        }
        attempt { () throws(StorageError) in _ = try storage.members(of: group, in: .joined, containing: "an", after: nil, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.readers(of: group, atLeast: 0, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.reactions(to: EventAddress(group, 1), of: nil, after: nil, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.accounts([world.ann, user]) }
        attempt { () throws(StorageError) in _ = try storage.accounts(after: nil, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.accounts(containing: "an", after: nil, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.allAccounts(after: nil, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.listedConversations(containing: "", after: nil, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.listedConversation(group) }
        attempt { () throws(StorageError) in _ = try storage.links(of: group, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.link("k7Qm2ZtX9bVw4NsA") }
        attempt { () throws(StorageError) in _ = try storage.expired(at: .max, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.endedPolls(at: .max, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.events(of: group, before: .max, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.dueScheduled(at: .max, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.calls(limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.deletedConversations(limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.deletedAccounts(limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.device(DeviceKey(5)) }
        attempt { () throws(StorageError) in _ = try storage.pushDevices(after: DeviceKey(0), limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.invitation([3]) }
        attempt { () throws(StorageError) in _ = try storage.invitations(after: [], limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.blob(blob) }
        attempt { () throws(StorageError) in _ = try storage.orphans(before: .max, after: 0, limit: 9) }
        attempt { () throws(StorageError) in _ = try storage.reports(isOpen: false, before: .max, limit: 9) }
        attempt { () throws(StorageError) in
            var needs = Needs()
            needs.conversations = [group]
            needs.members = [MemberAddress(group, world.ann), MemberAddress(group, user)]
            if let id {
                needs.sends = [SendAddress(group, world.ann, id)]
                needs.requests = [RequestAddress(world.ann, id)]
                needs.scheduled = [ScheduledAddress(world.ann, id)]
            }
            needs.events = (1...6).map { EventAddress(group, $0) }
            needs.annotations = [AnnotationAddress(EventAddress(group, 1), user)]
            needs.unseen = [EventAddress(group, 1)]
            needs.accounts = [world.ann, user]
            needs.contacts = [ContactAddress(owner: world.ann, peer: user)]
            needs.links = [LinkNeed(code: "k7Qm2ZtX9bVw4NsA", user: world.eve)]
            (needs.scheduledCounts, needs.contactCounts) = ([world.ann], [world.ann])
            (needs.blobs, needs.successors) = ([BlobNeed(user: user, blob: blob)], [group])
            storage.hot.removeAll()
            _ = try storage.facts(needs)
        }
        storage.hot.removeAll()
        return errors
    }

    /// The tables, each with its columns and their types.
    private static func columns(_ connection: SQLiteConnection) throws -> [(table: String, column: String, type: String)] {
        try connection.prepare(
            """
            SELECT t.name, c.name, c.type FROM pragma_table_list t, pragma_table_info(t.name) c
            WHERE t.type = 'table' AND t.schema = 'main' AND t.name NOT LIKE 'sqlite%' ORDER BY 1, c.cid
            """
        ).all { ($0.text(0), $0.text(1), $0.text(2)) }
    }

    private static let values: [String: [String]] = [
        "INTEGER": ["NULL", "-1", "0", "255", "4294967296", "9223372036854775807", "-9223372036854775808"],
        "TEXT": ["NULL", "''", "'['", "'{}'", "'[[]]'", "'x y'", "CAST(x'FF00FE' AS TEXT)", "'99999999999999999999 -1'"],
        "BLOB": ["NULL", "x''", "x'FF'"],
    ]

    @Test func everyColumnCanHaveEveryValue() throws {
        let (world, storage, blob) = try Self.world()
        #expect(self.read(world, storage, blob).isEmpty, "the world itself is readable")
        let columns = try Self.columns(storage.connection)
        #expect(
            Set(columns.map(\.table)).isSuperset(of: ["event", "member", "counter", "conversation", "account", "device", "blob", "link"]))
        var changes = 0
        for (table, column, type) in columns {
            for value in Self.values[type] ?? [] {
                try storage.connection.execute("BEGIN")
                // A constraint refuses some of the values.
                if (try? storage.connection.execute("UPDATE \(table) SET \(column) = \(value)")) != nil {
                    changes += 1
                    // SQLite reports sums that overflow.
                    for error in self.read(world, storage, blob) where error.code != .corrupt {
                        #expect(error.message.contains("integer overflow"), "\(table).\(column) = \(value): \(error)")
                    }
                }
                storage.connection.rollback()
            }
        }
        #expect(changes > 500)
        #expect(self.read(world, storage, blob).isEmpty)
    }

    /// Returns a batch that changes rows of each kind.
    private static func changes(_ world: StorageWorld, _ blob: BlobID, seq: Int64) -> Changes {
        let group = ConversationKey(7)
        var changes = Changes()
        changes.events = [EventRow(conversation: group, seq: seq, n: seq - 1, sender: world.bob, at: 1, kind: .text, body: "{}")]
        changes.blanks = [1, 2, seq].map { EventBlank(address: EventAddress(group, $0), state: .erased) }
        var counters = ConversationCounters()
        (counters.lastSeq, counters.lastN) = (seq, seq - 1)
        changes.conversations = [ConversationChange(key: group, counters: counters), world.new(ConversationKey(8), .group)]
        changes.members = [MemberRow(address: MemberAddress(group, world.bob), role: .owner, state: .joined)]
        changes.folderRemovals = [FolderRemoval(user: world.ann, folders: 1)]
        changes.blobReferences = [BlobReference(event: EventAddress(group, seq), blob: blob)]
        changes.accounts = [AccountRow(key: world.ann, name: UserName(prepared: "ann"), nickname: "N", selfConversation: group)]
        changes.credentials.uploads = [(BlobRow(id: blob, size: 5, type: "image/png", createdAt: 1), world.bob)]
        changes.credentials.collectedBlobs = [blob]
        return changes
    }

    /// A batch that changes a damaged row is written or refused.
    @Test func everyColumnCanHaveEveryValueInABatch() throws {
        let (world, storage, blob) = try Self.world()
        let seq = try world.counters(ConversationKey(7)).lastSeq + 1
        var written = 0
        for (table, column, type) in try Self.columns(storage.connection) {
            for value in Self.values[type] ?? [] {
                storage.hot.removeAll()
                try storage.connection.execute("BEGIN")
                if (try? storage.connection.execute("UPDATE \(table) SET \(column) = \(value)")) != nil {
                    var needs = Needs()
                    needs.skips = [SkipNeed(member: MemberAddress(ConversationKey(7), world.bob), above: 1)]
                    do throws(StorageError) {
                        _ = try storage.facts(needs)
                        try storage.write(Self.changes(world, blob, seq: seq), commit: 99)
                        written += 1
                    } catch {
                        #expect([.invalidUse, .corrupt].contains(error.code), "\(table).\(column) = \(value): \(error)")
                    }
                }
                storage.connection.rollback()
            }
        }
        #expect(written > 300)
    }

    /// The number of the last batch and those of conversations can be the largest ones.
    @Test func aStorageWithStrangeNumbersIsOpened() throws {
        let (world, _, blob) = try Self.world()
        let seq = try world.counters(ConversationKey(7)).lastSeq + 1
        let folder = try #require(world.folder)
        let copy = try TemporaryFolder()
        for script in [
            "meta SET last_commit = \(Int64.max)", "meta SET last_commit = \(Int64.min)", "conversation SET slot = \(Int64.max)",
        ] {
            for suffix in ["", "-wal"] { try folder.copy("chat.sqlite" + suffix, to: copy) }
            let filter = script.hasPrefix("conversation") ? " WHERE conversation = 1011" : ""
            try SQLiteConnection(path: copy.path + "/chat.sqlite", isReader: false, cacheBytes: 1 << 20).execute(
                "UPDATE \(script)\(filter)")
            let storage = try copy.open()
            _ = try storage.begin(Needs())
            var changes = Self.changes(world, blob, seq: seq)
            if !filter.isEmpty {
                #expect(throws: StorageError.self, "no number for a new conversation") { try storage.commit(changes) }
                _ = try storage.begin(Needs())
                changes.conversations.removeLast()
            }
            #expect(try storage.commit(changes).commit > 0)
        }
    }

    /// Each table loses its rows, as a table whose pages were lost.
    @Test func everyTableCanBeEmpty() throws {
        let (world, storage, blob) = try Self.world()
        for table in Set(try Self.columns(storage.connection).map(\.table)).sorted() {
            try storage.connection.execute("BEGIN")
            if (try? storage.connection.execute("DELETE FROM \(table)")) != nil {
                for error in self.read(world, storage, blob) { #expect(error.code == .corrupt, "\(table): \(error)") }
            }
            storage.connection.rollback()
        }
    }

    // MARK: What strange values mean

    private func changed(_ script: String) throws -> (world: StorageWorld, storage: SQLiteStorage) {
        let (world, storage, _) = try Self.world()
        try storage.connection.execute(script)
        storage.hot.removeAll()
        return (world, storage)
    }

    /// A state that this version does not know must not open the account.
    @Test(arguments: ["3", "-1", "255", "256"]) func anUnknownStateOfAnAccountIsSuspended(state: String) throws {
        let (world, storage) = try self.changed("UPDATE account SET state = \(state)")
        #expect(try storage.accounts([world.ann]).map(\.state) == [.suspended])
        #expect(try storage.accounts(after: nil, limit: 9).isEmpty)
    }

    /// An audience that this version does not know is the strictest one; an absent one has its
    /// default.
    @Test(arguments: ["'{\"messages\":\"friends-of-friends\"}'", "'{\"messages\":\"none\",\"later\":1}'"])
    func anUnknownAudienceIsTheStrictest(json: String) throws {
        let (world, storage) = try self.changed("UPDATE account SET privacy = \(json)")
        let privacy = try #require(try storage.accounts([world.ann]).first?.privacy)
        var expected = AccountPrivacy()
        expected.messages = .none
        #expect(privacy == expected)
    }

    @Test(arguments: ["''", "'['", "'[]'", "'null'", "'{\"messages\":1}'"])
    func damagedPrivacyIsTheDefault(json: String) throws {
        let (world, storage) = try self.changed("UPDATE account SET privacy = \(json)")
        #expect(try storage.accounts([world.ann]).first?.privacy == AccountPrivacy())
    }

    /// Counts and times have limits, so that the server can add to them and subtract from them.
    @Test(arguments: [(Int64.max, 1 << 53), (1 << 53 + 1, 1 << 53), (1 << 53, 1 << 53), (-1, 0), (Int64.min, 0)] as [(Int64, Int64)])
    func countsAreClamped(stored: Int64, expected: Int64) throws {
        let (world, storage) = try self.changed(
            """
            UPDATE event SET at = \(stored), edited_at = \(stored), edit_seq = \(stored), reactions = '[["+",\(stored)]]',
                votes = '\(stored) 1';
            UPDATE link SET used = \(stored); UPDATE device SET generation = \(stored); UPDATE quota SET bytes = \(stored);
            UPDATE account SET invitations_today = \(stored); UPDATE counter SET call_seq = \(stored) WHERE call_seq > 0;
            UPDATE blob SET size = \(stored), width = \(stored), height = \(stored), duration = \(stored)
            """)
        let event = try #require(try world.event(EventAddress(ConversationKey(7), 1)))
        #expect([event.at, event.editedAt, event.editSeq] == [expected, expected, expected])
        #expect(event.reactions == [ReactionCount(key: "+", count: expected)] && event.votes == [expected, 1])
        #expect(try storage.link("k7Qm2ZtX9bVw4NsA")?.link.used == expected)
        #expect(try storage.device(DeviceKey(5))?.generation == expected)
        #expect(try storage.accounts([world.ann]).map(\.invitationsToday) == [Int(expected)])
        #expect(try storage.uploadedBytes(of: world.ann) == expected)
        #expect(try storage.calls(limit: 9).map(\.seq) == (stored > 0 ? [expected] : []))
        let blob = try #require(try storage.uploads(of: world.ann, after: 0, limit: 9).blobs.first)
        #expect([blob.size, blob.width, blob.height, blob.duration] == [expected, expected, expected, expected])
        #expect(try storage.blob(blob.id) == blob)
    }

    /// An event with the largest `seq` that is hidden is read once.
    @Test func aPageOfAThreadEndsAtTheLargestSeq() throws {
        let (world, storage, _) = try Self.world()
        let group = ConversationKey(7)
        let reply = EventAddress(group, try world.counters(group).lastSeq)
        try world.annotate(world.bob, reply) { $0.isHidden = true }
        for (table, column) in [("event", "id"), ("event_place", "id"), ("event_recent", "id"), ("annotation", "event")] {
            try storage.connection.execute(
                "UPDATE \(table) SET \(column) = \(column) | 4294967295 WHERE \(column) & 4294967295 = \(reply.seq) "
                    + "AND \(column) >> 32 = (SELECT slot FROM conversation WHERE conversation = 7)")
        }
        let last = EventPlace.largestSeq
        for selection in [
            EventSelection.thread(1, from: 0), .thread(1, from: last), .thread(1, from: last + 1), .threadEnd(1, through: .max),
        ] {
            for (user, seqs) in [(world.ann, [last]), (world.bob, [])] {
                let found = try storage.events(in: group, selection, as: user, limit: 1).map(\.seq)
                #expect(found == (selection == .thread(1, from: last + 1) ? [] : seqs), "\(selection)")
            }
        }
        #expect(try world.seqs(group, .from(last + 1), as: world.ann).isEmpty)
    }

    /// A damaged counter or a blob with the largest number does not make a list endless.
    @Test func listsOfStrangeNumbersHaveTheirPages() throws {
        let (world, storage) = try self.changed(
            """
            UPDATE counter SET last_seq = \(Int64.max);
            INSERT INTO blob (id, digest, size, type) VALUES (\(Int64.max), '\(String(repeating: "1f", count: 32))', 4, 'image/png');
            INSERT INTO upload (blob, user) VALUES (\(Int64.max), \(UserKey(11).rawValue))
            """)
        let blobs = try Pages.all { (cursor: Int64?) in
            let page = try storage.uploads(of: world.ann, after: cursor ?? 0, limit: 5)
            return (page.blobs.map(\.size), page.next)
        }
        #expect(blobs == [9, 4])
        let orphans = try Pages.all { (cursor: Int64?) in
            let page = try storage.orphans(before: .max, after: cursor ?? 0, limit: 5)
            return (page.blobs, page.next)
        }
        #expect(orphans.count == 1)
        let page = try storage.events(
            of: ConversationKey(7), by: world.ann, after: EventPlace.largestSeq - 1, changes: true, limit: 9)
        #expect(page == SenderPage(events: [], next: nil))
    }

    /// Changed conversations whose rows are lost do not end the list of the changed ones.
    @Test func lostConversationsDoNotHideLaterChanges() throws {
        let world = try StorageWorld(.sqlite)
        let storage = try #require(world.storage as? SQLiteStorage)
        let position = try storage.position()
        for key in 1...6 as ClosedRange<Int64> { try world.group(key, world.ann) }
        try storage.connection.execute("DELETE FROM conversation WHERE conversation IN (1, 2, 4)")
        for limit in 1...6 {
            let heads = try Pages.all { (cursor: ConversationKey?) -> (rows: [HeadRow], next: ConversationKey?) in
                guard case .page(let heads, let next) = try storage.changes(of: world.ann, after: position, cursor: cursor, limit: limit)
                else { return ([], nil) }
                return (heads, next)
            }
            #expect(heads.map(\.conversation.key.rawValue) == [3, 5, 6], "pages of \(limit)")
        }
    }

    /// A member whose role or state is of a later version sees nothing and may do nothing.
    @Test func anUnknownStateOfAMemberSeesNothing() throws {
        let (world, storage) = try self.changed(
            "UPDATE member SET state = 9 WHERE slot = (SELECT slot FROM conversation WHERE conversation = 7)")
        #expect(try storage.events(in: ConversationKey(7), .from(1), as: world.bob, limit: 9).isEmpty)
        #expect(try storage.readers(of: ConversationKey(7), atLeast: 0, limit: 9).isEmpty)
        #expect(try storage.conversations(of: world.bob) == [ConversationKey(1_012)])
        let all: MemberStates = [.joined, .invited, .requested, .banned]
        #expect(try storage.members(of: ConversationKey(7), in: all, containing: nil, after: nil, limit: 9).members.isEmpty)
    }

    @Test func anUnknownRoleIsUnknown() throws {
        let (world, storage) = try self.changed("UPDATE member SET role = 77")
        #expect(try storage.head(of: world.bob, in: ConversationKey(7))?.member.role == .unknown)
    }

    /// A hash of a wrong length must not let another request pass as the stored one.
    @Test func aRequestWithADamagedHashIsNotAnswered() throws {
        let (world, _) = try self.changed("UPDATE request SET hash = x'03'")
        let address = RequestAddress(world.ann, try #require(ClientID("m1")))
        #expect(try world.facts { $0.requests = [address] }.requests[address] == nil)
    }

    @Test func aCodeOfALaterVersionIsNotAccepted() throws {
        let (world, storage) = try self.changed("UPDATE code SET purpose = 200")
        #expect(try storage.code([1, 2], of: world.ann) == nil)
    }

    /// An authenticator in a state of a later version stays required.
    @Test(arguments: ["9", "-1", "256"]) func anUnknownStateOfAnAuthenticatorIsOn(state: String) throws {
        let (world, storage) = try self.changed("UPDATE credential SET totp_state = \(state)")
        #expect(try storage.credential(of: world.ann)?.totpState == .on)
    }

    @Test func damagedListsOfAnEventAreEmpty() throws {
        let (world, storage) = try self.changed("UPDATE event SET reactions = '[1]', votes = 'x', mentions = 'a b', body = '['")
        let first = try #require(try storage.events(in: ConversationKey(7), .from(1), as: world.bob, limit: 1).first?.row)
        #expect(first.reactions.isEmpty && first.votes.isEmpty && first.mentions.isEmpty && first.body == "[")
        #expect(first.searchText == nil, "a damaged body has no words")
    }

    @Test(arguments: ["'['", "'{\"write\":5}'", "''"]) func damagedSettingsAreTheDefaultOnes(json: String) throws {
        let (world, storage) = try self.changed("UPDATE conversation SET settings = \(json) WHERE conversation = 7")
        #expect(try storage.head(of: world.bob, in: ConversationKey(7))?.conversation.settings == ConversationSettings())
        #expect(try storage.listedConversation(ConversationKey(7)) == nil, "only a readable setting lists a conversation")
    }

    @Test func quietHoursNeedBothTimes() throws {
        for script in ["quiet_from = 60", "quiet_until = 60", "quiet_from = NULL, quiet_until = 5"] {
            let (world, storage) = try self.changed("UPDATE account SET \(script)")
            #expect(try storage.accounts([world.ann]).first?.quietHours == nil)
        }
    }

    /// The pages of a list end, and contain each conversation once, whatever its time is.
    @Test(arguments: [.min, -5, 0, 1 << 53, 1 << 53 + 1, .max] as [Int64]) func aListOfStrangeTimesHasItsPages(time: Int64) throws {
        let world = try StorageWorld(.sqlite)
        let storage = try #require(world.storage as? SQLiteStorage)
        for key in 1...5 as ClosedRange<Int64> { try world.group(key, world.ann) }
        try storage.connection.execute("UPDATE counter SET last_at = \(time) WHERE slot IN (SELECT slot FROM conversation WHERE kind = 3)")
        try storage.connection.execute("UPDATE member SET pinned_at = \(time) WHERE conversation = 4")
        for limit in 1...7 {
            var found: [Int64] = []
            var cursor: HeadsCursor?
            var pages = 0
            repeat {
                let page = try storage.heads(of: world.ann, after: cursor, limit: limit)
                found += page.heads.map(\.conversation.key.rawValue)
                cursor = page.next
                pages += 1
            } while cursor != nil && pages < 20
            // A conversation with a negative time of pinning is in neither part of the list.
            #expect(found.sorted() == (time < 0 ? [1, 2, 3, 5, 1_011] : [1, 2, 3, 4, 5, 1_011]), "pages of \(limit)")
        }
    }

    @Test func aPictureWithADamagedDigestIsNil() throws {
        let (world, storage) = try self.changed(
            "UPDATE account SET avatar = 'xyz'; UPDATE conversation SET avatar = ''; UPDATE blob SET digest = 'Z'")
        #expect(try storage.accounts([world.ann]).first?.avatar == nil)
        #expect(try storage.head(of: world.bob, in: ConversationKey(7))?.conversation.profile.avatar == nil)
        #expect(try storage.uploads(of: world.ann, after: 0, limit: 9).blobs.isEmpty)
        #expect(try storage.orphans(before: .max, after: 0, limit: 9).blobs.isEmpty)
    }
}
