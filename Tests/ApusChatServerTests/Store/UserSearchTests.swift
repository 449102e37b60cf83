import ApusChatProtocol
import GRDB
import Testing

@testable import ApusChatServer

@Suite struct UserSearchTests {
    let db: DatabaseQueue

    init() throws {
        self.db = try DatabaseQueue()
        try ChatSchema.migrate(self.db)
    }

    private func add(_ people: [(name: String, display: String)]) throws {
        try self.db.write { db in
            for (name, display) in people {
                _ = try AccountRows.insertUser(
                    UserID(unchecked: name), name: try #require(UserName(name)), display: display, password: PasswordHash(stored: "x"),
                    at: 1,
                    db)
            }
        }
    }

    private func page(_ query: String, after: String? = nil) throws -> UsersReply {
        try self.db.read { db in try UserSearch.page(query, after: after, db) }
    }

    private func find(_ query: String) throws -> [String] { try self.page(query).users.map(\.name) }

    @Test(arguments: [
        ("smith", ["a_smithy", "jsmith"]), ("SMITH", ["a_smithy", "jsmith"]),  // a family name
        ("john", ["jsmith"]), ("ohn", ["jsmith"]),  // the middle of a name
        ("王", ["wangxm", "xwang"]), ("小明", ["wangxm"]), ("明", ["wangxm"]),
        ("wang", ["wangxm", "xwang"]),  // names that begin with it come first
        ("smith john", ["jsmith"]), ("小 王", ["wangxm"]), ("wang 小", ["wangxm"]),  // words in any order, of both names
        ("ｓｍｉｔｈ", ["a_smithy", "jsmith"]), ("ＷＡＮＧ", ["wangxm", "xwang"]), ("ｶﾀｶﾅ", ["katakana"]),  // width
        ("@wang", ["wangxm", "xwang"]), ("＠Wang", ["wangxm", "xwang"]), ("@john", []), ("@王", []),  // the user name alone
        ("jose\u{301}", ["josecafe"]), ("josé", ["josecafe"]),  // equal in another normal form
        ("%", []), ("_", ["a_smithy"]), ("_s", ["a_smithy"]), ("*", []), ("[a-z]", []), ("'", []),
        ("unknown name", []), ("wang smith", []),
    ])
    func people(query: String, names: [String]) throws {
        try self.add([
            ("jsmith", "John Smith"), ("wangxm", "王小明"), ("xwang", "老王"), ("katakana", "カタカナ"), ("josecafe", "José"),
            ("a_smithy", "Forge"),
        ])
        #expect(try self.find(query) == names)
    }

    @Test(arguments: ["", "@", "  ", " @ "])
    func withoutWordsAllUsersAreFound(query: String) throws {
        try self.add([("carol", "C"), ("alice", "A"), ("bobby", "B")])
        #expect(try self.find(query) == ["alice", "bobby", "carol"])
    }

    @Test func theUserOfExactlyThisNameComesFirst() throws {
        try self.add((0..<120).map { ("aali\($0)", "alice \($0)") } + [("alice", "Zoe"), ("alice2", "Z")])
        #expect(try self.find("ALICE").first == "alice")
        #expect(try self.find("@alice") == ["alice", "alice2"])
    }

    @Test func pagesShowEveryUserOnce() throws {
        let people = (0..<173).map { (name: "user\($0)", display: $0.isMultiple(of: 3) ? "Wang \($0)" : "Li \($0)") }
        try self.add(people + [("wang", "The one"), ("awang", "B")])
        for (query, count) in [("", 175), ("wang", 60), ("li", 115), ("user", 173), ("@user1", 84)] {
            var names: [String] = []
            var next: String?
            repeat {
                let page = try self.page(query, after: next)
                #expect(page.users.count == ChatLimits.users || page.next == nil)
                names += page.users.map(\.name)
                next = page.next
            } while next != nil && names.count < 1_000
            #expect(names.count == count && Set(names).count == count, "\(query): \(names.count)")
        }
    }

    @Test func aFullLastPageSaysThatItIsTheLast() throws {
        try self.add((0..<50).map { ("user\($0)", "x") })
        #expect(try self.page("").users.count == 50 && self.page("").next == nil)
        try self.add([("user50", "x")])
        let next = try #require(try self.page("").next)
        #expect(try self.page("", after: next).users.map(\.name) == ["user9"])
    }

    @Test(arguments: ["", "x", "3:a", "-1:a", "9223372036854775808:a", "1"])
    func aPlaceThatWasNeverGivenIsRefused(place: String) throws {
        #expect(throws: ChatError.self) { try self.page("a", after: place) }
    }

    @Test func aLongQueryFindsNoUsers() throws {
        try self.add([("alice", "A")])
        #expect(try self.find(String(repeating: "a ", count: 5_000)) == [])
        #expect(try self.find(String(repeating: "a ", count: 99)) == ["alice"])
        #expect(try self.find("\u{0}") == [] && self.find("a\u{0}b") == [])
        #expect(try self.find(String(repeating: "ﷺ", count: 60)) == [])
    }

    @Test func namesOfAnEarlierReleaseAreFoldedAnew() throws {
        let db = try DatabaseQueue()
        let migrator = ChatSchema.migrator
        try migrator.migrate(db, upTo: migrator.migrations[1])
        try db.write { db in
            for (id, display) in [("u1", "Ｗang"), ("u2", "Li")] {
                try db.execute(
                    sql:
                        "INSERT INTO user (id, name, folded, display, display_folded, password, created_at) VALUES (?, ?, ?, ?, ?, 'x', 1)",
                    arguments: [id, id, id, display, display.lowercased()])
            }
        }
        try migrator.migrate(db)
        #expect(try db.read { db in try UserSearch.page("wang", after: nil, db) }.users.map(\.name) == ["u1"])
    }

    /// The scan must use the index: the table's rows contain passwords and are five times as large.
    @Test func aSearchReadsTheIndex() throws {
        try self.db.write { db in
            var plans: [String] = []
            db.trace { event in if case .statement(let statement) = event { plans.append(statement.sql) } }
            _ = try UserSearch.page("a b", after: nil, db)
            db.trace(options: [])
            let sql = try #require(plans.last { $0.contains("user_search") })
            let details = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: ["", "", "", -1, -1, "", "a", "a", "b", "b"])
                .map { $0["detail"] as String }
            #expect(details.contains { $0.contains("COVERING INDEX user_search") }, "\(details)")
        }
    }
}
