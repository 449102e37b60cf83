import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// A statement in the middle of a batch fails, for each table and each kind of statement. The batch
/// leaves nothing in the database and in the rows that the writer caches, and can be repeated.
@Suite struct RefusedStatementTests {
    /// A storage whose next batch touches each table.
    private final class Disk {
        let folder: TemporaryFolder
        let storage: SQLiteStorage
        let blob: BlobID
        let group = ConversationKey(7)
        let (ann, bob) = (UserKey(1), UserKey(2))

        init() throws {
            let folder = try TemporaryFolder()
            var environment = SQLiteEnvironment()
            (environment.syncsCommits, environment.recentPlaces) = (false, 1)
            self.folder = folder
            self.storage = try folder.open(environment)
            self.blob = try #require(BlobID(String(repeating: "b", count: 64)))
            try self.commit(self.first)
        }

        func commit(_ changes: Changes) throws {
            _ = try self.storage.begin(self.needs)
            _ = try self.storage.commit(changes)
        }

        var needs: Needs {
            var needs = Needs()
            needs.conversations = [self.group]
            needs.members = [MemberAddress(self.group, self.ann), MemberAddress(self.group, self.bob)]
            needs.events = (1...4).map { EventAddress(self.group, $0) }
            return needs
        }

        private func event(_ seq: Int64) -> EventRow {
            EventRow(
                conversation: self.group, seq: seq, n: seq, sender: self.ann, at: seq, kind: .text, body: #"{"text":"\#(seq)"}"#,
                mentions: [self.bob])
        }

        private func account(_ key: UserKey, _ nickname: String) -> AccountRow {
            AccountRow(key: key, name: UserName(prepared: "user\(key.rawValue)"), nickname: nickname, selfConversation: self.group)
        }

        private func counters(_ last: Int64) -> ConversationCounters {
            var counters = ConversationCounters()
            (counters.lastSeq, counters.lastN, counters.memberCount) = (last, last, 2)
            return counters
        }

        /// A row in each table.
        private var first: Changes {
            var changes = Changes()
            let row = ConversationRow(key: self.group, kind: .group, createdAt: 1, settings: ConversationSettings())
            changes.conversations = [ConversationChange(key: self.group, counters: self.counters(2), row: row, isNew: true)]
            changes.members = [self.ann, self.bob].map { MemberRow(address: MemberAddress(self.group, $0), role: .member, state: .joined) }
            changes.members[0].folders = 3
            changes.events = [self.event(1), self.event(2)]
            changes.events[0].isPinned = true
            var annotation = AnnotationRow(address: AnnotationAddress(EventAddress(self.group, 1), self.bob), n: 1)
            annotation.reactions = ["+"]
            changes.annotations = [annotation]
            changes.accounts = [self.account(self.ann, "Ann"), self.account(self.bob, "Bob")]
            changes.blobReferences = [BlobReference(event: EventAddress(self.group, 1), blob: self.blob)]
            changes.scheduled = self.scheduled("old")
            changes.credentials.credentials = [CredentialRow(user: self.ann, password: "old", passwordChangedAt: 1)]
            changes.credentials.devices = (1...2).map { DeviceRow(key: DeviceKey($0), user: self.ann, name: "d", platform: "web", at: 1) }
            changes.credentials.codes = [CodeRow(user: self.ann, hash: [1], purpose: .recovery)]
            changes.credentials.invitations = [InvitationRow(hash: [1], createdAt: 1, expiresAt: 2)]
            let old = BlobRow(id: self.blob, size: 4, type: "image/png", createdAt: 1)
            changes.credentials.uploads = [(old, self.ann)]
            return changes
        }

        private func scheduled(_ id: String) -> [ScheduledRow] {
            ClientID(id).map { id in
                [
                    ScheduledRow(
                        address: ScheduledAddress(self.ann, id), conversation: self.group, kind: .text, body: "{}", sendAt: 1,
                        hash: RequestHash(1, 2, 3, 4))
                ]
            } ?? []
        }

        /// A batch that inserts, updates and deletes rows.
        var second: Changes {
            var changes = Changes()
            var row = ConversationRow(key: self.group, kind: .group, createdAt: 1, settings: ConversationSettings())
            row.profile.title = "Title"
            let new = ConversationRow(key: ConversationKey(8), kind: .group, createdAt: 2, settings: ConversationSettings())
            changes.conversations = [
                ConversationChange(key: self.group, counters: self.counters(4), row: row),
                ConversationChange(key: new.key, counters: new.counters, row: new, isNew: true),
            ]
            changes.events = [self.event(3), self.event(4)]
            var target = self.event(2)
            (target.isPinned, target.editedAt, target.state) = (true, 9, .edited)
            changes.targets = [target]
            changes.blanks = [EventBlank(address: EventAddress(self.group, 1), state: .recalled)]
            changes.folderRemovals = [FolderRemoval(user: self.ann, folders: 1)]
            var member = MemberRow(address: MemberAddress(self.group, self.bob), role: .member, state: .joined)
            member.readN = 2
            let joined = MemberRow(address: MemberAddress(self.group, UserKey(3)), role: .guest, state: .joined)
            changes.members = [member, joined]
            var annotation = AnnotationRow(address: AnnotationAddress(EventAddress(self.group, 2), self.bob), n: 2)
            annotation.isHidden = true
            changes.annotations = [annotation]
            if let id = ClientID("r") {
                let answer = StoredAnswer(conversation: self.group, seq: 3, n: 3, at: 3)
                changes.requests = [RequestRow(address: RequestAddress(self.ann, id), hash: RequestHash(1, 2, 3, 4), answer: answer, at: 3)]
            }
            changes.accounts = [self.account(self.ann, "Anna"), self.account(UserKey(3), "Eve")]
            changes.contacts = [ContactRow(address: ContactAddress(owner: self.ann, peer: self.bob))]
            changes.links = [LinkRow(code: "code", conversation: self.group, creator: self.ann, createdAt: 3)]
            changes.reports = [ReportRow(reporter: self.ann, conversation: self.group, reason: "spam", at: 3)]
            changes.scheduled = self.scheduled("new")
            changes.unscheduled = self.scheduled("old").map(\.address)
            changes.blobReferences = [BlobReference(event: EventAddress(self.group, 4), blob: self.blob)]
            changes.credentials.removedDevices = [DeviceKey(2)]
            changes.credentials.clearedCodes = [(self.ann, .recovery)]
            changes.credentials.codes = [CodeRow(user: self.ann, hash: [2], purpose: .reset)]
            changes.credentials.credentials = [CredentialRow(user: self.ann, password: "new", passwordChangedAt: 2)]
            changes.credentials.devices = [DeviceRow(key: DeviceKey(3), user: self.bob, name: "d", platform: "ios", at: 2)]
            changes.credentials.pushes = [(DeviceKey(1), "{}")]
            changes.credentials.invitations = [InvitationRow(hash: [1], createdAt: 1, expiresAt: 2, usesLeft: 0)]
            changes.credentials.uploads = [(BlobRow(id: self.blob, size: 4, type: "image/png", createdAt: 1), self.bob)]
            return changes
        }
    }

    /// The rows that the next batch would read.
    private func cached(_ disk: Disk) throws -> (ConversationRow?, [MemberRow?]) {
        let facts = try disk.storage.begin(disk.needs)
        disk.storage.abandon()
        return (facts.conversations[disk.group], disk.needs.members.map { facts.members[$0] })
    }

    /// The tables in which the second batch inserts, updates and deletes rows.
    private static let tables: [(operation: String, names: Set<String>)] = [
        (
            "INSERT",
            [
                "account", "annotation", "blob", "blob_ref", "code", "contact", "conversation", "counter", "credential", "device", "event",
                "event_place", "event_recent", "link", "member", "mention", "pin", "quota", "report", "request", "scheduled", "text_change",
                "upload",
            ]
        ),
        ("UPDATE", ["account", "conversation", "counter", "device", "event", "member", "meta"]),
        ("DELETE", ["annotation", "blob_ref", "code", "device", "event_recent", "invitation", "mention", "pin", "scheduled"]),
    ]

    @Test(arguments: Self.tables.indices) func aRefusedStatementUndoesItsBatch(index: Int) throws {
        let (operation, expected) = Self.tables[index]
        let undisturbed = try Disk()
        try undisturbed.commit(undisturbed.second)
        let complete = try DatabaseDump(undisturbed.storage.connection)
        var refused: Set<String> = []
        for table in try DatabaseDump.names(undisturbed.storage.connection) {
            let disk = try Disk()
            let connection = disk.storage.connection
            let (before, rows) = (try DatabaseDump(connection), try self.cached(disk))
            try connection.execute("CREATE TEMP TRIGGER refuse BEFORE \(operation) ON \(table) BEGIN SELECT RAISE(ABORT, 'refused'); END")
            do { try disk.commit(disk.second) } catch let error as StorageError {
                #expect(error.code == .invalidUse && error.message.contains("refused"), "\(operation) on \(table): \(error)")
                refused.insert(table)
                #expect(!connection.isInTransaction && disk.storage.failure == nil)
                let after = try DatabaseDump(connection)
                #expect(after == before, "\(operation) on \(table): \(after.difference(from: before))")
                let found = try self.cached(disk)
                #expect(found.0 == rows.0 && found.1 == rows.1, "\(operation) on \(table)")
                try connection.execute("DROP TRIGGER refuse")
                try disk.commit(disk.second)
            }
            // The slot of a refused conversation is not used again.
            let difference = try DatabaseDump(connection).difference(from: complete)
            #expect(difference.filter { !$0.hasPrefix("conversation: ") && !$0.hasPrefix("counter: ") } == [], "\(operation) on \(table)")
        }
        #expect(refused == expected, "\(operation)")
    }
}
