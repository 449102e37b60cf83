import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// A random script of accounts, contacts, links, scheduled messages, sign-ins and uploads leaves
/// SQLite and memory in the same state. The test compares all reads, in pages of several sizes.
@Suite struct PeopleScriptTests {
    @Test(arguments: 1...8 as ClosedRange<UInt64>) func allStoragesAgree(_ seed: UInt64) throws {
        let folder = try TemporaryFolder()
        var environment = SQLiteEnvironment()
        environment.hotRows = seed % 2 == 0 ? 2 : 100_000
        environment.syncsCommits = false
        let memory = MemoryStorage()
        let disk = try folder.open(environment)
        var script = PeopleScript(seed: seed)
        for step in 0..<120 {
            let changes = script.next()
            _ = try memory.begin(script.needs)
            _ = try disk.begin(script.needs)
            _ = try memory.commit(changes)
            _ = try disk.commit(changes)
            if step == 60, seed % 3 == 0 {
                try self.compare(memory, disk, script)
                try disk.recover()  // opens the file again
            }
        }
        try self.compare(memory, disk, script)
    }

    private func pages<Row, Cursor>(_ read: (Cursor?, Int) throws -> (rows: [Row], next: Cursor?), size: Int) throws -> [Row] {
        var rows: [Row] = []
        var cursor: Cursor?
        repeat {
            let page = try read(cursor, size)
            rows += page.rows
            cursor = page.next
        } while cursor != nil
        return rows
    }

    /// Returns all rows of a list whose cursor is the last row of a page.
    private func list<Row, Cursor>(_ read: (Cursor?, Int) throws -> [Row], cursor: (Row) -> Cursor, size: Int) throws -> [Row] {
        try self.pages(
            { after, limit in
                let rows = try read(after, limit)
                #expect(rows.count <= limit)
                return (rows, rows.count < limit ? nil : rows.last.map(cursor))
            }, size: size)
    }

    func compare(_ memory: MemoryStorage, _ disk: SQLiteStorage, _ script: PeopleScript) throws {
        try self.compareAccounts(memory, disk, script)
        try self.compareSignIns(memory, disk, script)
        try self.compareFacts(memory, disk, script)
        for key in script.conversations {
            #expect(try disk.links(of: key, limit: 100) == memory.links(of: key, limit: 100))
            #expect(try disk.listedConversation(key) == memory.listedConversation(key))
            for text in PeopleScript.parts {
                let expected = memory.members(of: key, in: [.joined, .invited], containing: text, after: nil, limit: 100)
                #expect(
                    try disk.members(of: key, in: [.joined, .invited], containing: text, after: nil, limit: 100) == expected, "\(text)")
            }
        }
        for code in script.codes {
            let (ours, theirs) = (memory.link(code), try disk.link(code))
            #expect(ours?.link == theirs?.link && ours?.conversation == theirs?.conversation)
        }
        for text in PeopleScript.parts {
            let expected = memory.listedConversations(containing: text, after: nil, limit: 100).conversations
            for size in [1, 2, 100] {
                let found: [ConversationRow] = try self.pages(
                    { (cursor: Int64?, limit: Int) in
                        let page = try disk.listedConversations(containing: text, after: cursor, limit: limit)
                        return (page.conversations, page.next)
                    }, size: size)
                #expect(found == expected, "\(text) in pages of \(size)")
            }
        }
    }

    private func compareAccounts(_ memory: MemoryStorage, _ disk: SQLiteStorage, _ script: PeopleScript) throws {
        let names = script.users.map { PeopleScript.name($0) } + [UserName(prepared: "ghost")]
        #expect(try disk.userKeys(named: names) == memory.userKeys(named: names))
        #expect(try disk.accounts(script.users) == memory.accounts(script.users))
        #expect(try disk.deletedAccounts(limit: 100) == memory.deletedAccounts(limit: 100))
        for size in [1, 3, 100] {
            let all = memory.accounts(after: nil, limit: 100)
            #expect(try self.list({ try disk.accounts(after: $0, limit: $1) }, cursor: \.key, size: size) == all)
            for text in PeopleScript.parts {
                let expected = memory.accounts(containing: text, after: nil, limit: 100)
                let found = try self.list({ try disk.accounts(containing: text, after: $0, limit: $1) }, cursor: \.key, size: size)
                #expect(found == expected, "\(text) in pages of \(size)")
            }
            for user in script.users {
                let contacts = memory.contacts(of: user, after: nil, limit: 100)
                let found = try self.list({ try disk.contacts(of: user, after: $0, limit: $1) }, cursor: \.address.peer, size: size)
                #expect(found == contacts)
            }
        }
        for user in script.users {
            #expect(try disk.scheduled(of: user, limit: 100).map(\.address) == memory.scheduled(of: user, limit: 100).map(\.address))
            #expect(try disk.scheduled(of: user, limit: 100) == memory.scheduled(of: user, limit: 100))
        }
        for time in [0, script.time / 2, .max] {
            #expect(try disk.dueScheduled(at: time, limit: 100) == memory.dueScheduled(at: time, limit: 100))
        }
    }

    private func compareSignIns(_ memory: MemoryStorage, _ disk: SQLiteStorage, _ script: PeopleScript) throws {
        for user in script.users {
            #expect(try disk.credential(of: user) == memory.credential(of: user))
            for limit in [1, 2, 100] { #expect(try disk.devices(of: user, limit: limit) == memory.devices(of: user, limit: limit)) }
            for limit in [1, 2, 100] {
                #expect(try disk.pushDevices(of: user, limit: limit) == memory.pushDevices(of: user, limit: limit))
            }
            #expect(try disk.uploadedBytes(of: user) == memory.uploadedBytes(of: user))
            let uploads: [BlobRow] = try self.pages(
                { (cursor: Int64?, limit: Int) in
                    let page = try disk.uploads(of: user, after: cursor ?? 0, limit: limit)
                    return (page.blobs, page.next)
                }, size: 2)
            #expect(uploads == memory.uploads(of: user, after: 0, limit: 100).blobs)
            for hash in PeopleScript.hashes { #expect(try disk.code(hash, of: user) == memory.code(hash, of: user)) }
            for blob in script.blobs {
                let need = BlobNeed(user: user, blob: blob)
                #expect(try disk.mayRead(need) == memory.mayRead(need))
            }
        }
        for device in script.devices { #expect(try disk.device(device) == memory.device(device)) }
        for size in [1, 100] {
            let all = memory.pushDevices(after: DeviceKey(.min), limit: 100)
            let found = try self.list(
                { try disk.pushDevices(after: $0 ?? DeviceKey(.min), limit: $1) }, cursor: \.key, size: size)
            #expect(found == all)
        }
        for hash in PeopleScript.hashes { #expect(try disk.invitation(hash) == memory.invitation(hash)) }
        let listed = try self.list({ try disk.invitations(after: $0 ?? [], limit: $1) }, cursor: \.hash, size: 1)
        #expect(listed == PeopleScript.hashes.compactMap { memory.invitation($0) })
        for blob in script.blobs { #expect(try disk.blob(blob) == memory.blob(blob)) }
        let orphans: [BlobID] = try self.pages(
            { (cursor: Int64?, limit: Int) in
                let page = try disk.orphans(before: script.time / 2, after: cursor ?? 0, limit: limit)
                return (page.blobs, page.next)
            }, size: 1)
        #expect(orphans == memory.orphans(before: script.time / 2, after: 0, limit: 100).blobs)
    }

    private func compareFacts(_ memory: MemoryStorage, _ disk: SQLiteStorage, _ script: PeopleScript) throws {
        let needs = script.needs
        let (ours, theirs) = (try memory.begin(needs), try disk.begin(needs))
        memory.abandon()
        disk.abandon()
        for key in needs.accounts { #expect(ours.accounts[key] == theirs.accounts[key]) }
        for address in needs.contacts { #expect(ours.contacts[address] == theirs.contacts[address]) }
        for user in needs.contactCounts { #expect(ours.contactCounts[user] == theirs.contactCounts[user], "\(user)") }
        for user in needs.scheduledCounts { #expect(ours.scheduledCounts[user] ?? 0 == theirs.scheduledCounts[user] ?? 0, "\(user)") }
        for address in needs.scheduled { #expect(ours.scheduled[address] == theirs.scheduled[address]) }
        for need in needs.links { #expect(ours.links[need.code] == theirs.links[need.code]) }
        #expect(ours.readableBlobs == theirs.readableBlobs)
    }
}

/// Generates random batches from a seed.
struct PeopleScript {
    let users = (1...6).map { UserKey(Int64($0)) }
    let conversations = [21, 22, 23].map { ConversationKey(Int64($0)) }
    let devices = (1...9).map { DeviceKey(Int64($0)) }
    let codes = (1...6).map { "code-\($0)" }
    let blobs = (0..<5).compactMap { BlobID(String(repeating: "0\($0)", count: 32)) }
    /// Sorted, as operators list them.
    static let hashes: [[UInt8]] = [[0, 1], [1], [2, 0], [255, 255]]
    /// Parts of names, some of which are special characters of queries.
    static let parts = ["a", "li", "ali", "alice", "ALICE", "王", "小明", "ä", "Ö", "u1", "'", "\"", "%", "_", "*", "zz", "e", "ne", "row"]
    private static let nicknames = ["", "Alice", "王小明", "Äneas Ö.", "O'Neil", "50 % \"off\"", "_*", "ALICE"]
    private static let titles = ["Rowing", "王小明 group", "100 %", "alice"]

    private(set) var time: Int64 = 1_000
    private var state: UInt64
    private var isStarted = false

    init(seed: UInt64) { self.state = seed &* 0x9E37_79B9_7F4A_7C15 }

    static func name(_ user: UserKey) -> UserName { UserName(prepared: "u\(user.rawValue)") }

    private mutating func random(_ bound: Int) -> Int {
        self.state ^= self.state << 13
        self.state ^= self.state >> 7
        self.state ^= self.state << 17
        return Int(self.state % UInt64(bound))
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value { values[self.random(values.count)] }

    var needs: Needs {
        var needs = Needs()
        needs.accounts = self.users
        needs.contacts = self.users.flatMap { owner in self.users.map { ContactAddress(owner: owner, peer: $0) } }
        needs.contactCounts = self.users
        needs.scheduledCounts = self.users
        needs.scheduled = self.users.flatMap { user in Self.ids.map { ScheduledAddress(user, $0) } }
        needs.links = self.codes.map { LinkNeed(code: $0, user: self.users[0]) }
        needs.blobs = self.users.flatMap { user in self.blobs.map { BlobNeed(user: user, blob: $0) } }
        return needs
    }

    private static let ids = (1...4).compactMap { ClientID("s-\($0)") }

    mutating func next() -> Changes {
        var changes = Changes()
        self.time += 1
        guard self.isStarted else {
            self.isStarted = true
            for key in self.conversations { self.change(key, isNew: true, &changes) }
            changes.accounts = self.users.map {
                AccountRow(key: $0, name: Self.name($0), nickname: "", selfConversation: ConversationKey(1))
            }
            return changes
        }
        for _ in 0...self.random(4) { self.add(to: &changes) }
        return changes
    }

    private mutating func add(to changes: inout Changes) {
        switch self.random(12) {
        case 0: self.changeAccount(&changes)
        case 1:
            let address = ContactAddress(owner: self.pick(self.users), peer: self.pick(self.users))
            guard !changes.contacts.contains(where: { $0.address == address }) else { return }
            var row = ContactRow(address: address)
            row.relation = self.pick([.none, .asked, .requested, .friend])
            (row.isBlocked, row.alias, row.at) = (self.random(4) == 0, self.pick(Self.nicknames), self.time)
            row.text = self.random(2) == 0 ? "" : "hello"
            changes.contacts.append(row)
        case 2:
            let code = self.pick(self.codes)
            guard !changes.links.contains(where: { $0.code == code }) else { return }
            var row = LinkRow(
                code: code, conversation: self.conversations[(code.utf8.last.map(Int.init) ?? 0) % 3], creator: self.users[0],
                createdAt: Int64(code.utf8.last ?? 0), role: [.member, .reader, .admin][(code.utf8.last.map(Int.init) ?? 0) % 3],
                expiresAt: Int64(self.random(3)),
                usesLeft: Int64(self.random(4)) - 1, needsApproval: self.random(2) == 0)
            (row.used, row.isRevoked) = (Int64(self.random(9)), self.random(4) == 0)
            changes.links.append(row)
        case 3:
            let address = ScheduledAddress(self.pick(self.users), self.pick(Self.ids))
            guard !changes.scheduled.contains(where: { $0.address == address }), !changes.unscheduled.contains(address) else { return }
            if self.random(3) == 0 { return changes.unscheduled.append(address) }
            self.time += 1
            var row = ScheduledRow(
                address: address, conversation: self.pick(self.conversations), kind: .text, body: "{\"at\":\(self.time)}",
                sendAt: self.time,
                hash: RequestHash(self.state, 1, .max, 0))
            (row.ref, row.thread, row.isSilent) = (Int64(self.random(3)), Int64(self.random(3)), self.random(2) == 0)
            row.failure = self.random(4) == 0 ? "forbidden" : ""
            changes.scheduled.append(row)
        case 4: self.changeCredential(&changes)
        case 5, 6: self.changeDevice(&changes)
        case 7:
            let code = CodeRow(
                user: self.pick(self.users), hash: self.pick(Self.hashes), purpose: self.pick([.recovery, .reset]),
                expiresAt: self.pick([.max, self.time]))
            switch self.random(4) {
            case 0: changes.credentials.removedCodes.append(code)
            case 1: changes.credentials.clearedCodes.append((code.user, code.purpose))
            default: changes.credentials.codes.append(code)
            }
        case 8:
            changes.credentials.invitations.append(
                InvitationRow(
                    hash: self.pick(Self.hashes), createdAt: self.time, expiresAt: self.time + 9, usesLeft: Int64(self.random(3))))
        case 9:
            let index = self.random(self.blobs.count)
            let blob = BlobRow(
                id: self.blobs[index], size: Int64(index * 100 + 1), type: "image/png", width: Int64(index), height: 1,
                createdAt: Int64(index) * 200)
            changes.credentials.uploads.append((blob, self.pick(self.users)))
        case 10: changes.credentials.collectedBlobs.append(self.pick(self.blobs))
        default:
            let key = self.pick(self.conversations)
            guard !changes.conversations.contains(where: { $0.key == key }) else { return }
            self.change(key, isNew: false, &changes)
        }
    }

    private mutating func changeAccount(_ changes: inout Changes) {
        let user = self.pick(self.users)
        guard !changes.accounts.contains(where: { $0.key == user }) else { return }
        var row = AccountRow(key: user, name: Self.name(user), nickname: self.pick(Self.nicknames), selfConversation: ConversationKey(1))
        row.state = self.pick([.active, .active, .suspended, .deleted])
        row.isErased = row.state == .deleted && self.random(2) == 0
        row.privacy.messages = self.pick([.all, .contacts, .none])
        row.privacy.find = self.pick([.all, .contacts])
        (row.privacy.receipts, row.privacy.typing) = (self.random(2) == 0, self.random(2) == 0)
        (row.about, row.statusText) = (self.pick(["", "about \u{0} me"]), self.pick(["", "Ünïcode 👍"]))
        row.avatar = self.random(3) == 0 ? self.pick(self.blobs) : nil
        row.folders =
            self.random(2) == 0
            ? [] : [FolderRow(Folder(name: "A \"b\""), slot: 3), FolderRow(Folder(name: "U", filter: "unread"), slot: 0)]
        row.quietHours = self.random(2) == 0 ? nil : QuietHours(from: 1_320, until: 420)
        (row.invitationsToday, row.invitationDay) = (self.random(9), Int64(self.random(9)))
        changes.accounts.append(row)
    }

    private mutating func changeCredential(_ changes: inout Changes) {
        let user = self.pick(self.users)
        if self.random(5) == 0 { return changes.credentials.removedCredentials.append(user) }
        var row = CredentialRow(user: user, password: "hash \(self.time)", passwordChangedAt: self.time)
        row.totpState = self.pick([.off, .pending, .on])
        row.totpSecret = row.totpState == .off ? [] : [0, 255, UInt8(self.random(256))]
        row.totpStep = Int64(self.random(99))
        changes.credentials.credentials.append(row)
    }

    private mutating func changeDevice(_ changes: inout Changes) {
        let key = self.pick(self.devices)
        switch self.random(5) {
        case 0: changes.credentials.removedDevices.append(key)
        case 1: changes.credentials.pushes.append((key, self.random(3) == 0 ? nil : "{\"at\":\(self.time)}"))
        default:
            self.time += 1
            // The user of a device and the time of its first sign-in do not change.
            var row = DeviceRow(
                key: key, user: self.users[Int(key.rawValue) % self.users.count], name: self.pick(Self.nicknames), platform: "web", at: 7)
            row.capabilities = self.random(2) == 0 ? [] : ["call.audio", "x y"]
            (row.seenAt, row.rotatedAt, row.generation) = (self.time, self.time, Int64(self.random(9)))
            (row.isConfirmed, row.address) = (self.random(2) == 0, self.pick(["", "192.0.2.1", "2001:db8::1"]))
            changes.credentials.devices.append(row)
        }
    }

    private mutating func change(_ key: ConversationKey, isNew: Bool, _ changes: inout Changes) {
        var settings = ConversationSettings()
        settings.listed = self.random(3) > 0
        var row = ConversationRow(key: key, kind: .channel, createdAt: key.rawValue, settings: settings)
        row.profile.title = self.pick(Self.titles)
        row.profile.about = self.pick(["", "about"])
        row.profile.avatar = self.random(3) == 0 ? self.pick(self.blobs) : nil
        row.counters.memberCount = self.users.count
        row.counters.isDeleted = !isNew && self.random(9) == 0
        changes.conversations.append(ConversationChange(key: key, counters: row.counters, row: row, isNew: isNew))
        if isNew {
            changes.members += self.users.map { MemberRow(address: MemberAddress(key, $0), role: .member, state: .joined) }
        }
    }
}
