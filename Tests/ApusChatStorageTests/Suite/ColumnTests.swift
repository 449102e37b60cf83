import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// Each field of a row is stored in a column of its own: a row in which only this field differs
/// from its default is read as it was written, from the cached rows and from the file.
@Suite struct ColumnTests {
    private static let blob = BlobID(String(repeating: "c4", count: 32))

    /// Clears the cached rows, so that the next batch reads the file.
    private func forget(_ world: StorageWorld) { (world.storage as? SQLiteStorage)?.hot.removeAll() }

    // MARK: Members

    private static let memberFields: [(name: String, set: @Sendable (inout MemberRow) -> Void)] = [
        ("role", { $0.role = .guest }), ("state", { $0.state = .requested }), ("since", { $0.since = 101 }),
        ("minSeq", { $0.minSeq = 102 }),
        ("leftSeq", { $0.leftSeq = 103 }), ("floorN", { $0.floorN = 104 }), ("readN", { $0.readN = 105 }),
        ("skipped", { $0.skipped = 106 }),
        ("invitedBy", { $0.invitedBy = UserKey(107) }), ("silencedUntil", { $0.silencedUntil = 108 }),
        ("bannedUntil", { $0.bannedUntil = 109 }), ("lastSentAt", { $0.lastSentAt = 110 }), ("blockSeq", { $0.blockSeq = 111 }),
        ("isGone", { $0.isGone = true }), ("mutedUntil", { $0.mutedUntil = 112 }),
        ("notifiesMentionsOnly", { $0.notifiesMentionsOnly = true }), ("pinnedAt", { $0.pinnedAt = 113 }),
        ("isArchived", { $0.isArchived = true }), ("isMarkedUnread", { $0.isMarkedUnread = true }), ("folders", { $0.folders = 1 << 63 }),
        ("draftSeq", { $0.draftSeq = 114 }),
    ]

    @Test(arguments: StorageKind.allCases) func eachFieldOfAMember(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        let standard = MemberRow(address: MemberAddress(group, world.bob), role: .member, state: .joined)
        for (name, set) in Self.memberFields {
            var row = standard
            set(&row)
            #expect(row != standard, "\(name)")
            // The change from the default writes some columns only, if no other one differs.
            for expected in [row, standard, row] {
                var expected = expected
                expected.changed = try world.write { $0.members = [expected] }
                #expect(try world.member(world.bob, group) == expected, "\(name)")
                #expect(try world.head(world.bob, group)?.member == expected, "\(name)")
                self.forget(world)
                #expect(try world.member(world.bob, group) == expected, "\(name)")
            }
            try world.write { $0.members = [standard] }
            // The row of another member is unchanged.
            #expect(try world.head(world.ann, group)?.member.role == .owner, "\(name)")
        }
    }

    /// Fields that change when a user reads or sends, together with one that does not.
    @Test(arguments: StorageKind.allCases) func aPositionAndASettingOfAMember(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann, world.bob)
        for (name, set) in Self.memberFields {
            var row = try world.member(world.bob, group)
            (row.readN, row.skipped, row.lastSentAt) = (row.readN + 1, row.skipped + 2, row.lastSentAt + 3)
            row.isMarkedUnread.toggle()
            set(&row)
            row.changed = try world.write { $0.members = [row] }
            self.forget(world)
            #expect(try world.member(world.bob, group) == row, "\(name)")
        }
    }

    // MARK: Events

    /// The fields that a new event has, or that a command of its batch sets.
    private static let newFields: [(name: String, set: @Sendable (inout EventRow) -> Void)] = [
        ("sender", { $0.sender = UserKey(201) }), ("at", { $0.at = 202 }), ("kind", { $0.kind = EventKind(rawValue: "x.kind") }),
        ("clientID", { $0.clientID = ClientID("client") }), ("hash", { $0.hash = RequestHash(1, 2, 3, 4) }), ("ref", { $0.ref = 203 }),
        ("thread", { $0.thread = 204 }), ("body", { $0.body = "{\"x\":1}" }), ("expiresAt", { $0.expiresAt = 205 }),
        ("mentions", { $0.mentions = [UserKey(206), UserKey(-7)] }), ("mentionsAll", { $0.mentionsAll = true }),
        ("votes", { $0.votes = [3, 0, 2] }), ("allowsManyVotes", { $0.allowsManyVotes = true }),
        ("hidesVoters", { $0.hidesVoters = true }), ("closesAt", { $0.closesAt = 207 }),
    ]

    /// The fields that later batches change.
    private static let targetFields: [(name: String, set: @Sendable (inout EventRow) -> Void)] = [
        ("state", { $0.state = .recalled }), ("body", { $0.body = "{\"y\":2}" }), ("original", { $0.original = "{\"old\":1}" }),
        ("editedAt", { $0.editedAt = 301 }), ("editSeq", { $0.editSeq = 302 }), ("expiresAt", { $0.expiresAt = 303 }),
        ("mentions", { $0.mentions = [UserKey(304)] }), ("mentionsAll", { $0.mentionsAll = true }), ("isPinned", { $0.isPinned = true }),
        ("reactions", { $0.reactions = [ReactionCount(key: "\"", count: 305)] }), ("votes", { $0.votes = [306] }),
        ("allowsManyVotes", { $0.allowsManyVotes = true }), ("hidesVoters", { $0.hidesVoters = true }),
        ("isClosed", { $0.isClosed = true }),
        ("replyCount", { $0.replyCount = 307 }), ("lastReply", { $0.lastReply = 308 }),
    ]

    @Test(arguments: StorageKind.allCases) func eachFieldOfANewEvent(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        for (name, set) in Self.newFields {
            var written: EventRow?
            try world.append(to: group, by: world.ann) { event, _ in
                let standard = event
                set(&event)
                #expect(event != standard, "\(name)")
                written = event
            }
            let row = try #require(written)
            #expect(try world.event(row.address) == row, "\(name)")
            #expect(try world.storage.events(in: group, .from(row.seq), as: world.ann, limit: 1).first?.row == row, "\(name)")
        }
    }

    @Test(arguments: StorageKind.allCases) func eachChangeOfAnEvent(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        for (name, set) in Self.targetFields {
            try world.append(to: group, by: world.ann, kind: .poll)
            let address = EventAddress(group, try world.counters(group).lastSeq)
            let standard = try #require(try world.event(address))
            var row = standard
            set(&row)
            #expect(row != standard, "\(name)")
            for expected in [row, standard, row] {
                try world.write { $0.targets = [expected] }
                #expect(try world.event(address) == expected, "\(name)")
            }
        }
        // Each event has its own change only.
        for (index, field) in Self.targetFields.enumerated() where field.name != "body" {
            let row = try #require(try world.event(EventAddress(group, Int64(index) + 1)))
            #expect(row.body == #"{"text":"\#(index + 1)"}"#, "\(field.name)")
        }
    }

    // MARK: Conversations

    private static let counterFields: [(name: String, set: @Sendable (inout ConversationCounters) -> Void)] = [
        ("lastSeq", { $0.lastSeq = 401 }), ("lastN", { $0.lastN = 402 }), ("lastAt", { $0.lastAt = 403 }),
        ("previewSeq", { $0.previewSeq = 404 }), ("memberCount", { $0.memberCount = 405 }), ("callSeq", { $0.callSeq = 406 }),
        ("pinCount", { $0.pinCount = 407 }), ("linkCount", { $0.linkCount = 408 }), ("membersVersion", { $0.membersVersion = 409 }),
        ("epoch", { $0.epoch = 410 }), ("isDeleted", { $0.isDeleted = true }),
    ]

    private static let rowFields: [(name: String, set: @Sendable (inout ConversationRow) -> Void)] = [
        ("title", { $0.profile.title = "Title" }), ("about", { $0.profile.about = "About" }), ("avatar", { $0.profile.avatar = Self.blob }),
        ("write", { $0.settings.write = .admins }), ("invite", { $0.settings.invite = .admins }),
        ("manage", { $0.settings.manage = .members }), ("pin", { $0.settings.pin = .members }),
        ("mentionAll", { $0.settings.mentionAll = .members }), ("join", { $0.settings.join = .approval }),
        ("listed", { $0.settings.listed = true }), ("history", { $0.settings.history = .join }), ("slow", { $0.settings.slow = 411 }),
        ("expire", { $0.settings.expire = 412 }), ("receipts", { $0.settings.receipts = false }),
    ]

    @Test(arguments: StorageKind.allCases) func eachFieldOfAConversation(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let group = try world.group(1, world.ann)
        func found() throws -> ConversationRow? {
            let cached = try world.facts { $0.conversations = [group] }.conversations[group]
            self.forget(world)
            let read = try world.facts { $0.conversations = [group] }.conversations[group]
            #expect(cached == read)
            return read
        }
        var standard = try #require(try found())
        for (name, set) in Self.rowFields {
            var row = standard
            set(&row)
            #expect(row != standard, "\(name)")
            row.changed = try world.write { $0.conversations = [ConversationChange(key: group, counters: row.counters, row: row)] }
            #expect(try found() == row, "\(name)")
        }
        try world.write { $0.conversations = [ConversationChange(key: group, counters: standard.counters, row: standard)] }
        for (name, set) in Self.counterFields {
            var counters = standard.counters
            set(&counters)
            #expect(counters != standard.counters, "\(name)")
            let commit = try world.write { $0.conversations = [ConversationChange(key: group, counters: counters)] }
            (standard.counters, standard.changed) = (counters, commit)
            #expect(try found() == standard, "\(name)")
            #expect(try world.head(world.ann, group)?.conversation == standard, "\(name)")
            standard.counters = ConversationCounters()
        }
    }

    // MARK: Accounts

    private static let accountFields: [(name: String, set: @Sendable (inout AccountRow) -> Void)] = [
        ("name", { $0.name = UserName(prepared: "renamed") }), ("nickname", { $0.nickname = "Nick" }), ("state", { $0.state = .deleted }),
        ("selfConversation", { $0.selfConversation = ConversationKey(501) }), ("messages", { $0.privacy.messages = .none }),
        ("add", { $0.privacy.add = .all }), ("lastSeen", { $0.privacy.lastSeen = .none }),
        ("avatar privacy", { $0.privacy.avatar = .contacts }),
        ("find", { $0.privacy.find = .contacts }), ("receipts", { $0.privacy.receipts = false }), ("typing", { $0.privacy.typing = false }),
        ("about", { $0.about = "About" }), ("statusText", { $0.statusText = "Status" }), ("avatar", { $0.avatar = Self.blob }),
        ("folders", { $0.folders = [FolderRow(Folder(name: "F", filter: "unread"), slot: 9)] }),
        ("quietHours", { $0.quietHours = QuietHours(from: 502, until: 503) }), ("isErased", { $0.isErased = true }),
        ("invitationsToday", { $0.invitationsToday = 504 }), ("invitationDay", { $0.invitationDay = 505 }),
    ]

    @Test(arguments: StorageKind.allCases) func eachFieldOfAnAccount(_ kind: StorageKind) throws {
        let world = try StorageWorld(kind)
        let standard = try #require(try world.storage.accounts([world.ann]).first)
        for (name, set) in Self.accountFields {
            var row = standard
            set(&row)
            #expect(row != standard, "\(name)")
            for expected in [row, standard, row, standard] {
                var expected = expected
                expected.changed = try world.write { $0.accounts = [expected] }
                #expect(try world.storage.accounts([world.ann]) == [expected], "\(name)")
            }
        }
    }
}
