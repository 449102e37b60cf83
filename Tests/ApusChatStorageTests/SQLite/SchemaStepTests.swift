import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// Each step of the schema, with the rows that it changes or must keep. Each test opens the version
/// before the step and reads through the storage.
@Suite struct SchemaStepTests {
    private let ann = UserKey(1)
    private let bob = UserKey(2)
    private let group = ConversationKey(7)
    private static let digest = String(repeating: "ab", count: 32)

    /// The id of an event of the group, whose slot is 1.
    private static func id(_ seq: Int64) -> Int64 { 1 << 32 | seq }

    private func commit(_ storage: SQLiteStorage, _ configure: (inout Changes) -> Void) throws {
        var changes = Changes()
        configure(&changes)
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
    }

    private func facts(_ storage: SQLiteStorage, _ configure: (inout Needs) -> Void) throws -> Facts {
        var needs = Needs()
        configure(&needs)
        defer { storage.abandon() }
        return try storage.begin(needs)
    }

    /// A device of the first version keeps its name, its times and its push subscription.
    @Test func stepTwoKeepsDevices() throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(1, in: folder) { connection in
            try connection.execute("INSERT INTO device VALUES (4, 1, 'Phone', 3, 8, 'family', 'endpoint', x'01')")
        }
        let device = try #require(try storage.device(DeviceKey(4)))
        #expect(device.user == self.ann && device.name == "Phone" && device.createdAt == 3 && device.seenAt == 8)
        #expect(device.platform.isEmpty && device.capabilities.isEmpty && device.address.isEmpty)
        #expect(device.generation == 1 && device.isConfirmed && device.rotatedAt == 0)
        #expect(try storage.devices(of: self.ann, limit: 9).map(\.key) == [DeviceKey(4)])
        #expect(try storage.pushDevices(of: self.ann, limit: 9).map(\.subscription) == ["endpoint"])
    }

    /// The accounting begins with the second version. Earlier uploads are not in it, and their
    /// removal takes nothing from later ones.
    @Test func stepTwoAccountsForLaterUploadsOnly() throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(1, in: folder) { connection in
            try connection.execute(
                """
                INSERT INTO blob VALUES (1, '\(Self.digest)', 100, 'image/png', 2, 3, 4);
                INSERT INTO upload VALUES (1, 1);
                """)
        }
        let old = try #require(BlobID(Self.digest))
        #expect(try storage.uploadedBytes(of: self.ann) == 0 && storage.mayRead(BlobNeed(user: self.ann, blob: old)))
        #expect(try storage.uploads(of: self.ann, after: 0, limit: 9).blobs.map(\.size) == [100])
        try self.commit(storage) { $0.credentials.collectedBlobs = [old] }
        #expect(try storage.uploadedBytes(of: self.ann) == 0 && storage.blob(old) == nil)
        let new = BlobRow(id: old, size: 30, type: "image/png", createdAt: 9)
        try self.commit(storage) { $0.credentials.uploads = [(new, self.ann)] }
        #expect(try storage.uploadedBytes(of: self.ann) == 30)
        try self.commit(storage) { $0.credentials.collectedBlobs = [old] }
        #expect(try storage.uploadedBytes(of: self.ann) == 0)
    }

    /// A picture of an account of the first version is a reference to its blob.
    @Test func stepTwoFindsPictures() throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(1, in: folder) { connection in
            try connection.execute(
                """
                INSERT INTO blob VALUES (1, '\(Self.digest)', 100, 'image/png', 2, 3, 4);
                UPDATE account SET avatar = '\(Self.digest)' WHERE user = 2;
                """)
        }
        #expect(try storage.orphans(before: .max, after: 0, limit: 9).blobs.isEmpty)
        var row = try #require(try storage.accounts([self.bob]).first)
        #expect(row.avatar == BlobID(Self.digest))
        row.avatar = nil
        try self.commit(storage) { $0.accounts = [row] }
        #expect(try storage.orphans(before: .max, after: 0, limit: 9).blobs == [try #require(BlobID(Self.digest))])
    }

    /// Nothing of the second version is deleted, banned for a time, or in a call. Late members are
    /// in the new index.
    @Test func stepThreeHasNoCallsAndNoDeletions() throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(2, in: folder) { connection in
            try connection.execute(
                """
                UPDATE account SET state = 2 WHERE user = 2;
                UPDATE member SET min_seq = 2 WHERE slot = 1 AND user = 2;
                INSERT INTO member (slot, user, conversation, role, state, since, min_seq, left_seq, floor_n, read_n, skipped, invited_by,
                    silenced_until, last_sent_at, blocks_peer, is_gone, muted_until, pinned_at, is_archived, is_marked_unread, folders,
                    draft_seq, changed)
                    VALUES (1, 3, 7, 3, 6, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
                """)
        }
        let event = EventAddress(self.group, 1)
        let facts = try self.facts(storage) { needs in
            needs.conversations = [self.group]
            needs.members = [MemberAddress(self.group, UserKey(3))]
            needs.unseen = [event]
        }
        #expect(facts.conversations[self.group]?.counters.callSeq == 0 && facts.conversations[self.group]?.counters.isDeleted == false)
        let banned = try #require(facts.members[MemberAddress(self.group, UserKey(3))])
        #expect(banned.bannedUntil == 0 && banned.isBanned(at: .max), "a ban without an end remains")
        #expect(facts.unseen[event] == [self.bob])
        #expect(try storage.calls(limit: 9).isEmpty && storage.deletedConversations(limit: 9).isEmpty)
        #expect(try storage.deletedAccounts(limit: 9) == [self.bob], "its messages are still to be erased")
        #expect(try storage.scheduled(of: self.ann, limit: 9).isEmpty)
    }

    /// All columns of the events survive the move to the new table, and each new index finds them.
    @Test func stepFourKeepsEvents() throws {
        let folder = try TemporaryFolder()
        let (hash, id) = (RequestHash(0, 1, 2, 3), try #require(ClientID("poll-1")))
        let storage = try Fixture.open(3, in: folder) { connection in
            let row = try connection.prepare(
                """
                INSERT INTO event (id, n, is_message, sender, at, kind, client_id, hash, ref, thread, state, body, expires_at, mentions,
                    mentions_all, original, edited_at, is_pinned, reactions, votes, allows_many_votes, hides_voters, is_closed, reply_count,
                    last_reply)
                VALUES (?1, 3, 1, 2, 9, 'poll', 'poll-1', ?2, ?3, ?3, 1, '{"text":"new"}', 77, '1 2', 1, '{"text":"old"}', 8, 1,
                    '[["+",2]]', '3 0', 1, 1, 1, 4, 6)
                """)
            row.bind(1, Self.id(3))
            hash.bind(to: row, 2)
            row.bind(3, Self.id(1))
            try row.run()
            try connection.execute(
                """
                INSERT INTO event (id, n, is_message, sender, at, kind, ref, state, body)
                    VALUES (\(Self.id(4)), 3, 0, 2, 1, 'edit', \(Self.id(3)), 0, '{}');
                INSERT INTO pin VALUES (\(Self.id(3)));
                UPDATE counter SET last_seq = 4, last_n = 3 WHERE slot = 1;
                """)
        }
        var expected = EventRow(
            conversation: self.group, seq: 3, n: 3, sender: self.bob, clientID: id, hash: hash, at: 9, kind: .poll, ref: 1, thread: 1,
            body: #"{"text":"new"}"#, expiresAt: 77, mentions: [self.ann, self.bob], mentionsAll: true)
        (expected.state, expected.original, expected.editedAt, expected.editSeq) = (.edited, #"{"text":"old"}"#, 8, 4)
        (expected.isPinned, expected.reactions, expected.votes) = (true, [ReactionCount(key: "+", count: 2)], [3, 0])
        (expected.allowsManyVotes, expected.hidesVoters, expected.isClosed) = (true, true, true)
        (expected.replyCount, expected.lastReply) = (4, 6)
        let sent = SendAddress(self.group, self.bob, id)
        let facts = try self.facts(storage) { needs in
            needs.events = [EventAddress(self.group, 3)]
            needs.sends = [sent, SendAddress(self.group, self.ann, id)]
        }
        #expect(facts.events[EventAddress(self.group, 3)] == expected)
        #expect(facts.sends[sent] == SentFact(hash: hash, seq: 3, n: 3, at: 9))
        #expect(facts.sends[SendAddress(self.group, self.ann, id)] == nil)
        func seqs(_ selection: EventSelection) throws -> [Int64] {
            try storage.events(in: self.group, selection, as: self.ann, limit: 9).map(\.seq)
        }
        #expect(try seqs(.from(1)) == [1, 2, 3, 4] && seqs(.through(9)) == [1, 2, 3, 4])
        #expect(try seqs(.thread(1, from: 1)) == [3] && seqs(.edits(of: 3)) == [4] && seqs(.pinned) == [3])
        #expect(try storage.expired(at: 77, limit: 9) == [EventAddress(self.group, 3)] && storage.expired(at: 76, limit: 9).isEmpty)
        // The events are in the order of their times, and after that of their ids.
        #expect(try storage.connection.prepare("SELECT id FROM event ORDER BY place").all { EventPlace.seq($0.int(0)) } == [1, 4, 2, 3])
    }

    /// The directory lists the conversations that their settings list. All texts are new to the
    /// search index.
    @Test func stepFiveListsConversations() throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(4, in: folder) { connection in
            try connection.execute(
                """
                UPDATE conversation SET settings = json_set(settings, '$.listed', json('true')) WHERE conversation = 7;
                UPDATE conversation SET settings = '{}' WHERE conversation = 1001;
                """)
        }
        #expect(try storage.listedConversations(containing: "TITLE", after: nil, limit: 9).conversations.map(\.key) == [self.group])
        #expect(try storage.listedConversation(self.group) != nil && storage.listedConversation(ConversationKey(1_001)) == nil)
        #expect(try storage.forgetTextChanges(before: .max, limit: 9) == 0)
    }

    /// Rows of the fifth version have no texts, no end times and no rules, and reports are open.
    @Test func stepSixAddsEmptyValues() throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(5, in: folder) { connection in
            try connection.execute(
                """
                INSERT INTO contact VALUES (1, 2, 1, 1, 'Bobby', 5);
                INSERT INTO report VALUES (3, 1, 2, 7, 1, 'spam', 11), (4, 2, 1, NULL, NULL, 'abuse', 12);
                UPDATE event SET kind = 'poll', votes = '1 0' WHERE id = \(Self.id(1));
                """)
        }
        let contact = try #require(try storage.contacts(of: self.ann, after: nil, limit: 9).first)
        #expect(contact.relation == .asked && contact.isBlocked && contact.alias == "Bobby" && contact.changed == 5)
        #expect(contact.text.isEmpty && contact.at == 0)
        let account = try #require(try storage.accounts([self.ann]).first)
        #expect(account.quietHours == nil && account.privacy.messages == .contacts)
        let reports = try storage.reports(isOpen: true, before: .max, limit: 9)
        #expect(reports.map { $0.number } == [4, 3] && reports.allSatisfy { $0.report.text.isEmpty && $0.report.resolvedAt == 0 })
        #expect(reports.map { $0.report.event } == [nil, EventAddress(self.group, 1)])
        #expect(try storage.resolveReport(3, at: 20))
        #expect(try storage.reports(isOpen: true, before: .max, limit: 9).map { $0.number } == [4])
        #expect(try storage.endedPolls(at: .max, limit: 9).isEmpty, "a poll without an end stays open")
        let head = try #require(try storage.head(of: self.bob, in: self.group))
        #expect(!head.member.notifiesMentionsOnly && head.mentions == 1)
    }

    /// A call that was running before the update is found after it.
    @Test func stepSevenFindsRunningCalls() throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(6, in: folder) { try $0.execute("UPDATE counter SET call_seq = 2 WHERE slot = 1") }
        #expect(try storage.calls(limit: 9) == [EventAddress(self.group, 2)])
    }

    /// A preview of the seventh version loses its content with its message.
    @Test func stepEightFindsPreviews() throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(7, in: folder) { connection in
            try connection.execute(
                """
                INSERT INTO event (id, n, is_message, sender, at, kind, ref, state, body) VALUES
                    (\(Self.id(3)), 2, 0, 1, 3, 'preview', \(Self.id(1)), 0, '{"title":"page"}'),
                    (\(Self.id(4)), 2, 0, 1, 4, 'preview', \(Self.id(2)), 0, '{"title":"other"}');
                UPDATE counter SET last_seq = 4 WHERE slot = 1;
                """)
        }
        try self.commit(storage) { $0.blanks = [EventBlank(address: EventAddress(self.group, 1), state: .recalled)] }
        let events = try storage.events(in: self.group, .from(1), as: self.ann, limit: 9)
        #expect(events.map { $0.row?.state } == [.recalled, .normal, .recalled, .normal])
        #expect(events.map { $0.row?.body.isEmpty } == [true, false, true, false])
    }

    /// An upload of the eighth version has no duration and no placeholder.
    @Test func stepNineAddsNoPlaceholder() throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(8, in: folder) { connection in
            try connection.execute("INSERT INTO blob VALUES (9, '\(Self.digest)', 100, 'image/png', 2, 3, 4)")
        }
        let id = try #require(BlobID(Self.digest))
        #expect(try storage.blob(id) == BlobRow(id: id, size: 100, type: "image/png", width: 2, height: 3, createdAt: 4))
    }

    /// The data of the second and third version, through all later steps.
    @Test(arguments: 2...ChatSchema.version) func signInsSurviveAllSteps(_ version: Int64) throws {
        let folder = try TemporaryFolder()
        let storage = try Fixture.open(version, in: folder)
        #expect(try storage.credential(of: self.ann)?.password == "scrypt$1$1$1$AA==$AA==")
        let device = try #require(try storage.device(DeviceKey(9)))
        #expect(device.name == "Firefox" && device.platform == "web" && device.capabilities == ["call.audio"])
        #expect(device.address == "192.0.2.1" && device.generation == 3 && !device.isConfirmed && device.rotatedAt == 2)
        #expect(try storage.code([1], of: self.ann)?.purpose == .recovery && storage.invitation([2])?.usesLeft == 2)
        #expect(try storage.uploadedBytes(of: self.ann) == 5)
        #expect(try storage.scheduled(of: self.ann, limit: 9).map(\.address.id.rawValue) == (version < 3 ? [] : ["s-1"]))
    }
}
