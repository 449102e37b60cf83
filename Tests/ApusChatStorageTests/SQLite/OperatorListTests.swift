import ApusChatProtocol
import ApusChatStorage
import Foundation
import Testing

@testable import ApusChatSQLite

/// The lists, statistics and copies that operators read.
@Suite struct OperatorListTests {
    private let world: StorageWorld
    private let storage: SQLiteStorage

    init() throws {
        self.world = try StorageWorld(.sqlite)
        self.storage = try #require(self.world.storage as? SQLiteStorage)
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do { try body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    /// Accounts in each state are listed, and those that the service lists are the active ones.
    @Test func accountsInEachStateAreListed() throws {
        for (key, state) in [(40, AccountState.suspended), (41, .deleted), (42, .active), (-5, .deleted)] as [(Int64, AccountState)] {
            try self.world.addAccount(UserKey(key), "user\(key)") { ($0.state, $0.isErased) = (state, key < 0) }
        }
        let expected: [Int64] = [-5, 11, 12, 13, 40, 41, 42]
        for limit in 1...8 {
            let rows = try Pages.all { (cursor: UserKey?) in
                let page = try self.storage.allAccounts(after: cursor, limit: limit)
                return (page, page.count == limit ? page.last?.key : nil)
            }
            #expect(rows.map(\.key.rawValue) == expected, "pages of \(limit)")
        }
        #expect(try self.storage.accounts(after: nil, limit: 9).map(\.key.rawValue) == [11, 12, 13, 42])
        #expect(
            try self.storage.allAccounts(after: UserKey(42), limit: 9).isEmpty && self.storage.allAccounts(after: nil, limit: 0).isEmpty)
    }

    /// Invitations are in the order of the bytes of their hashes, where a prefix precedes a longer
    /// hash.
    @Test func invitationsAreInTheOrderOfTheirHashes() throws {
        let hashes: [[UInt8]] = [[0, 0], [0, 1], [1], [1, 0], [1, 0, 0], [1, 255], [2], [127], [128], [255], [255, 0]]
        let rows = hashes.enumerated().map { index, hash in
            InvitationRow(hash: hash, createdAt: Int64(index), expiresAt: .max, usesLeft: Int64(index) + 1)
        }
        try self.world.write { $0.credentials.invitations = rows.reversed() }
        for limit in 1...12 {
            let found = try Pages.all { (cursor: [UInt8]?) in
                let page = try self.storage.invitations(after: cursor ?? [], limit: limit)
                return (page, page.count == limit ? page.last?.hash : nil)
            }
            #expect(found == rows, "pages of \(limit)")
        }
        #expect(try self.storage.invitations(after: [1], limit: 2) == Array(rows[3...4]))
        #expect(try self.storage.invitations(after: [1, 7], limit: 1) == [rows[5]], "the cursor was removed")
        #expect(try self.storage.invitations(after: [255, 0], limit: 9).isEmpty)
    }

    /// Each kind of report is read as it was written, and lists are continued with a number.
    @Test func reportsAreListedNewestFirst() throws {
        let group = ConversationKey(.max)
        let reports = [
            ReportRow(reporter: UserKey(1), subject: UserKey(2), event: nil, reason: "spam", text: "", at: 1),
            ReportRow(reporter: UserKey(3), subject: UserKey(4), event: EventAddress(group, 5), reason: "abuse", text: "日本 '", at: 2),
            ReportRow(reporter: UserKey(6), conversation: group, reason: "other", text: "Title", at: .max),
            ReportRow(reporter: UserKey(7), subject: UserKey(8), event: EventAddress(ConversationKey(0), 1), reason: "", at: 0),
        ]
        for report in reports { try self.world.write { $0.reports = [report] } }
        try self.world.write { $0.reports = reports }
        let all = (reports + reports).reversed() as [ReportRow]
        for limit in 1...9 {
            let found = try Pages.all { (cursor: Int64?) in
                let page = try self.storage.reports(isOpen: true, before: cursor ?? .max, limit: limit)
                return (page.map { $0.report }, page.count == limit ? page.last?.number : nil)
            }
            #expect(found == all, "pages of \(limit)")
        }
        #expect(try self.storage.reports(isOpen: true, before: 1, limit: 9).isEmpty)
        #expect(try self.storage.reports(isOpen: true, before: 2, limit: 9).map { $0.number } == [1])
        #expect(try self.storage.reports(isOpen: true, before: .min, limit: 9).isEmpty)
        for number in [8, 3, 1] as [Int64] { #expect(try self.storage.resolveReport(number, at: 50 + number)) }
        #expect(try self.storage.reports(isOpen: true, before: .max, limit: 9).map { $0.number } == [7, 6, 5, 4, 2])
        #expect(try self.storage.reports(isOpen: true, before: 5, limit: 2).map { $0.number } == [4, 2])
        let resolved = try self.storage.reports(isOpen: false, before: .max, limit: 9).map { $0.report.resolvedAt }
        #expect(resolved == [58, 0, 0, 0, 0, 53, 0, 51])
        for number in [8, 0, -1, 9, .max, .min] as [Int64] { #expect(try !self.storage.resolveReport(number, at: 99), "\(number)") }
        // The number of a report is not used again.
        try self.world.write { $0.reports = [reports[0]] }
        #expect(try self.storage.reports(isOpen: true, before: .max, limit: 1).map { $0.number } == [9])
    }

    /// Each statistic counts its rows.
    @Test func statisticsCountRows() throws {
        func counts() throws -> [String: Int64] {
            Dictionary(uniqueKeysWithValues: try self.storage.statistics().map { ($0.name, $0.count) })
        }
        var expected = try counts()
        #expect(expected["accounts"] == 3 && expected["conversations"] == 3 && expected["events"] == 0 && expected["blob bytes"] == 0)
        func expect(_ changed: [String: Int64], _ comment: Comment) throws {
            var found = try counts()
            expected.merge(changed) { $0 + $1 }
            (found["database bytes"], expected["database bytes"]) = (nil, nil)
            #expect(found == expected, comment)
        }
        let group = try self.world.group(1, self.world.ann)
        try expect(["conversations": 1], "a group")
        try self.world.append(2, to: group, by: self.world.ann)
        try self.world.append(to: group, by: self.world.ann, kind: .edit, ref: 1)
        try expect(["events": 3], "events")
        try self.world.write { changes in
            changes.credentials.devices = (1...2).map {
                DeviceRow(key: DeviceKey($0), user: self.world.ann, name: "d", platform: "web", at: 1)
            }
            changes.credentials.invitations = [InvitationRow(hash: [1], createdAt: 1, expiresAt: 2)]
        }
        try expect(["devices": 2, "invitations": 1], "sign-ins")
        let id = try #require(BlobID(String(repeating: "e", count: 64)))
        try self.world.write { $0.credentials.uploads = [(BlobRow(id: id, size: 70, type: "image/png", createdAt: 1), self.world.ann)] }
        try expect(["blobs": 1, "blob bytes": 70], "an upload")
        try self.world.write { $0.reports = (1...2).map { ReportRow(reporter: self.world.ann, conversation: group, reason: "x", at: $0) } }
        try expect(["open reports": 2], "reports")
        _ = try self.storage.resolveReport(1, at: 9)
        try expect(["open reports": -1], "a resolved report")
        try self.world.addAccount(UserKey(60), "closed") { $0.state = .suspended }
        try expect(["conversations": 1], "an account that is not active")
        let bytes = try self.storage.statistics().last
        #expect(bytes?.name == "database bytes" && bytes.map { $0.count % 4_096 == 0 && $0.count > 50_000 } == true)
    }

    // MARK: Copies

    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    /// A copy has the rows of the last batch, and is for its owner only, like the data folder.
    @Test func aCopyIsForItsOwnerOnly() throws {
        let group = try self.world.group(1, self.world.ann)
        try self.world.append(3, to: group, by: self.world.ann)
        let other = try TemporaryFolder()
        let path = other.path + "/chat.sqlite"
        let reads = try SQLiteReads(try #require(self.world.lock))
        try reads.backUp(to: path)
        #expect(try self.mode(path) == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: other.path) == ["chat.sqlite"])
        let copy = try other.open()
        #expect(try DatabaseDump(copy.connection) == DatabaseDump(self.storage.connection))
        #expect(try copy.position().epoch != self.storage.position().epoch, "clients of the copy read again")
        #expect(try copy.accounts(containing: "an", after: nil, limit: 9).map(\.key) == [self.world.ann], "the index of names")
    }

    /// A failed copy leaves no file, and replaces none.
    @Test func aFailedCopyLeavesNoFile() throws {
        let other = try TemporaryFolder()
        let reads = try SQLiteReads(try #require(self.world.lock))
        let path = other.path + "/copy.sqlite"
        // A copy cannot be made within a snapshot.
        try reads.inSnapshot { #expect(self.code { try reads.backUp(to: path) } == .invalidUse) }
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(self.code { try reads.backUp(to: other.path + "/none/copy.sqlite") } == .io)
        for content in ["", "kept"] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: path))
            let error = #expect(throws: StorageError.self) { try reads.backUp(to: path) }
            #expect(error?.code == .invalidUse && error?.message.contains("\(path) exists") == true)
            #expect(FileManager.default.contents(atPath: path) == Data(content.utf8))
        }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other.path + "/target")
        #expect(self.code { try reads.backUp(to: path) } == .invalidUse)
        #expect(!FileManager.default.fileExists(atPath: other.path + "/target"))
        #expect(self.code { try reads.connection.execute("DELETE FROM account") } != nil, "the reader is read-only again")
    }

    /// The writer can copy its database, and writes afterwards.
    @Test func theWriterWritesAfterACopy() throws {
        let other = try TemporaryFolder()
        try self.storage.backUp(to: other.path + "/chat.sqlite")
        try self.world.addAccount(UserKey(70), "later")
        #expect(try other.open().accounts(after: nil, limit: 9).count == 3)
        #expect(try self.storage.accounts(after: nil, limit: 9).count == 4)
    }

    /// The rows and the numbers are the same after the database was rewritten.
    @Test func aRewrittenDatabaseHasItsRows() throws {
        let group = try self.world.group(1, self.world.ann, self.world.bob)
        try self.world.append(50, to: group, by: self.world.ann) { event, _ in event.body = String(repeating: "x", count: 4_000) }
        for seq in 1...40 as ClosedRange<Int64> {
            try self.world.write { $0.blanks = [EventBlank(address: EventAddress(group, seq), state: .expired)] }
        }
        func pages() throws -> Int64 { try self.storage.connection.prepare("PRAGMA page_count").number() }
        let (before, count) = (try DatabaseDump(self.storage.connection), try pages())
        try self.storage.vacuum()
        #expect(try DatabaseDump(self.storage.connection) == before)
        #expect(try pages() < count - 30)
        #expect(try self.storage.check().isEmpty && self.world.append(to: group, by: self.world.bob) == 51)
    }
}
