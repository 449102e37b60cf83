import ApusChatProtocol
import ApusChatStorage
import Foundation
import Testing

@testable import ApusChatSQLite

/// Values that are stored as text or numbers in columns.
@Suite struct RowTextTests {
    @Test func everyValueHasItsOwnNumber() {
        for kind in ConversationKind.allCases { #expect(ConversationKind(code: kind.code) == kind) }
        for role in MemberRole.allCases { #expect(MemberRole(code: role.code) == role) }
        for state in MemberState.allCases { #expect(MemberState(code: state.code) == state) }
        for state in EventState.allCases where state != .unknown { #expect(EventState(code: state.code) == state) }
        #expect(Set(ConversationKind.allCases.map(\.code)).count == ConversationKind.allCases.count)
        #expect(Set(MemberRole.allCases.map(\.code)).count == MemberRole.allCases.count)
        #expect(Set(MemberState.allCases.map(\.code)).count == MemberState.allCases.count)
    }

    /// All existing databases contain these numbers.
    @Test func numbersNeverChange() {
        #expect(ConversationKind.allCases.map { "\($0.rawValue) \($0.code)" } == ["self 1", "pair 2", "group 3", "channel 4", "unknown 0"])
        #expect(
            MemberRole.allCases.map { "\($0.rawValue) \($0.code)" } == [
                "owner 5", "admin 4", "member 3", "reader 2", "guest 1", "unknown 0",
            ])
        #expect(
            MemberState.allCases.map { "\($0.rawValue) \($0.code)" }
                == ["joined 1", "invited 2", "requested 3", "left 4", "removed 5", "banned 6", "unknown 0"])
        #expect(
            EventState.allCases.map { "\($0.rawValue) \($0.code)" }
                == ["normal 0", "edited 1", "recalled 10", "expired 11", "erased 12", "unknown 0"])
    }

    @Test(arguments: [-1, 7, 99, .max, .min] as [Int64])
    func numbersOfLaterVersionsAreUnknown(code: Int64) {
        #expect(ConversationKind(code: code) == .unknown && MemberRole(code: code) == .unknown && MemberState(code: code) == .unknown)
        #expect(EventState(code: code) == .normal)
    }

    @Test(arguments: [[], [0], [1, -2, .max, .min]] as [[Int64]])
    func numbersAreText(numbers: [Int64]) { #expect(ListText.numbers(ListText.text(numbers)) == numbers) }

    @Test(arguments: [[], [""], ["a", "b c", "\"", "你好\n", "[1]"]] as [[String]])
    func textsAreText(texts: [String]) { #expect(ListText.texts(ListText.text(texts)) == texts) }

    @Test func foldersAreText() {
        let folders = [
            FolderRow(Folder(name: "A"), slot: 5), FolderRow(Folder(name: "Unread \"x\"", filter: "unread"), slot: 0),
            FolderRow(Folder(name: "王"), slot: 63),
        ]
        #expect(ListText.folders(ListText.text(folders)) == folders)
        // The forms of earlier versions.
        #expect(ListText.folders(#"["A","B"]"#) == [FolderRow(Folder(name: "A"), slot: 0), FolderRow(Folder(name: "B"), slot: 1)])
        #expect(
            ListText.folders(#"[["A"],["B","unread"]]"#) == [
                FolderRow(Folder(name: "A"), slot: 0), FolderRow(Folder(name: "B", filter: "unread"), slot: 1),
            ])
    }

    @Test func reactionsAreText() {
        let counts = [ReactionCount(key: "👍", count: 2), ReactionCount(key: "\"", count: 9_007_199_254_740_991)]
        #expect(ListText.counts(ListText.text(counts)) == counts)
    }

    @Test(arguments: ["", "x", "{}", "[", "null", "[null]", "[[]]", "[1]", "[[1,2]]", "[[\"a\"]]", "[[\"a\",\"b\"]]", "[{\"a\":1}]"])
    func damagedTextsAreEmpty(text: String) {
        #expect(ListText.counts(text).isEmpty)
        #expect(ListText.texts(text).isEmpty)
        if text != "[[\"a\"]]", text != "[[\"a\",\"b\"]]" { #expect(ListText.folders(text).isEmpty) }
        #expect(ListText.numbers(text.filter { !$0.isNumber }).isEmpty)
    }

    // MARK: Parts of names

    private static let names = [
        "", "a", "ab", "Alice", "alice", "王小明", "Äneas Ö.", "a b", "aa", "aaa", "abab", "👍🏽", "İ", "ß", "O'Neil \"x\"",
    ]

    /// The words of a name contain the phrase of overlapping pairs of a text if and only if the
    /// name contains the text.
    @Test(arguments: Self.names)
    func anyPartOfANameIsFound(name: String) {
        let words = NameGrams.words(of: name).split(separator: " ").map(String.init)
        #expect(words.count == name.lowercased().unicodeScalars.count)
        for other in Self.names + ["li", "ce", "ce ", "小", "ba", "bab", "e"] {
            guard let query = NameGrams.query(for: other) else {
                #expect(other.isEmpty)
                continue
            }
            let found: Bool
            if query.hasSuffix("*") {
                found = words.contains { $0.hasPrefix(query.dropLast()) }
            } else {
                let phrase = query.dropFirst().dropLast().split(separator: " ").map(String.init)
                found =
                    phrase.count <= words.count
                    && (0...words.count - phrase.count).contains { Array(words[$0..<$0 + phrase.count]) == phrase }
            }
            let expected = Array(name.lowercased().unicodeScalars).contains(Array(other.lowercased().unicodeScalars))
            #expect(found == expected, "\(other) in \(name)")
        }
    }

    @Test func partsAreBounded() {
        let query = NameGrams.query(for: String(repeating: "a", count: 10_000))
        #expect(query?.split(separator: " ").count == NameQuery.longestPart - 1)
        #expect(NameGrams.query(for: "\" OR 1").map { $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == " " || $0 == "\"" } } == true)
    }

    // MARK: The folder

    @Test func aFolderIsForItsOwnerOnly() throws {
        let parent = try TemporaryFolder()
        let path = parent.path + "/new/data"
        let lock = try ChatFolder(path)
        let storage = try SQLiteStorage(lock)
        _ = try storage.position()
        for (name, permissions) in [("", 0o700), ("/chat.lock", 0o600), ("/chat.sqlite", 0o600), ("/chat.place", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + name)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == permissions, "\(name)")
        }
    }

    @Test func aFolderIsLockedWhileItIsUsed() throws {
        let folder = try TemporaryFolder()
        do {
            let lock = try ChatFolder(folder.path)
            let error = #expect(throws: StorageError.self) { try ChatFolder(folder.path) }
            #expect(error?.code == .locked && error?.message.contains(folder.path) == true)
            lock.unlock()
            _ = try ChatFolder(folder.path)  // and is released with its object
        }
        _ = try ChatFolder(folder.path)
    }

    @Test func aFolderThatCannotBeUsedIsRefused() throws {
        let folder = try TemporaryFolder()
        try Data([1]).write(to: URL(fileURLWithPath: folder.path + "/file"))
        #expect(throws: StorageError.self) { try ChatFolder(folder.path + "/file") }
        #expect(throws: StorageError.self) { try ChatFolder(folder.path + "/file/inner") }
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/chat.lock", withDestinationPath: folder.path + "/target")
        #expect(throws: StorageError.self) { try ChatFolder(folder.path) }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/target"))
    }

    @Test func aNoteIsReplaced() throws {
        let folder = try TemporaryFolder()
        let lock = try ChatFolder(folder.path)
        #expect(lock.text(of: "note") == nil)
        try lock.write("a long text", to: "note", isSynced: true)
        try lock.write("short", to: "note", isSynced: false)
        #expect(lock.text(of: "note") == "short")
        try lock.write("", to: "note", isSynced: false)
        #expect(lock.text(of: "note") == nil)
        #expect(throws: StorageError.self) { try lock.write("x", to: "none/note", isSynced: false) }
    }

    @Test func theSearchFileIsReplacedWithItsLog() throws {
        let folder = try TemporaryFolder()
        let lock = try ChatFolder(folder.path)
        #expect(!lock.hasSearchFile)
        for suffix in ["", "-wal", "-shm"] { try Data([1]).write(to: URL(fileURLWithPath: lock.searchPath + suffix)) }
        try lock.replaceSearchFile()
        #expect(lock.hasSearchFile && FileManager.default.contents(atPath: lock.searchPath) == Data())
        for suffix in ["-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: lock.searchPath + suffix)) }
        try lock.replaceSearchFile()
        #expect(lock.hasSearchFile)
    }

    // MARK: Steps of the schema

    /// A step that fails leaves the version before it.
    @Test func aFailedStepLeavesTheVersionBefore() throws {
        let folder = try TemporaryFolder()
        let connection = try SQLiteConnection(path: folder.path + "/test.sqlite", isReader: false, cacheBytes: 1 << 20)
        for (index, step) in ChatSchema.steps.enumerated() {
            try connection.execute("BEGIN; \(step); ROLLBACK")  // the step is valid here
            try connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY) STRICT")
            #expect(try ChatSchema.foundVersion(connection) == Int64(index))
            // The next number is taken, so that the last statement of the step fails.
            try connection.execute("CREATE TEMP TRIGGER refuse BEFORE INSERT ON schema_version BEGIN SELECT RAISE(ABORT, 'refused'); END")
            #expect(throws: StorageError.self) { try ChatSchema.migrate(connection) }
            #expect(!connection.isInTransaction)
            #expect(try ChatSchema.foundVersion(connection) == Int64(index))
            try connection.execute("DROP TRIGGER refuse")
            try connection.execute("BEGIN; \(step); INSERT INTO schema_version (version) VALUES (\(index + 1)); COMMIT")
        }
        try ChatSchema.migrate(connection)
        #expect(try ChatSchema.foundVersion(connection) == ChatSchema.version)
    }
}
