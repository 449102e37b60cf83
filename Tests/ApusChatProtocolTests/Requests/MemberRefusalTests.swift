import ApusChatProtocol
import ApusJSON
import Testing

/// The errors of the requests for members.
@Suite("Refused requests for members")
struct MemberRefusalTests {
    // MARK: Lists

    private static let states = Rule.oneOf("joined", "invited", "requested", "left", "removed", "banned")

    @Test(
        arguments: [
            .invalid("query", "", Rule.filled), .tooLarge("query", Wire.text(101), Rule.scalars(100)), .invalid("query", [], Rule.string),
            .invalid("state", "member", states), .invalid("state", "unknown", states), .invalid("state", "", states),
            .invalid("state", "Joined", states), .invalid("state", 1, Rule.string), .invalid("page", " ", Rule.token),
        ] as [Refusal])
    func aRequestForMembersNamesItsWrongField(refusal: Refusal) { refusal.check(MembersRequest.self, ["conv": Wire.conv]) }

    @Test(arguments: ["joined", "invited", "requested", "left", "removed", "banned"])
    func membersOfEachStateAreRequested(state: String) throws {
        #expect(try MembersRequest(json: ["conv": Wire.conv, "state": .string(state)]).state?.rawValue == state)
    }

    // MARK: Users

    /// The requests that name users, with the fields that each needs beside them.
    private static let naming: [(name: String, fields: JSONObject, refusal: @Sendable (JSONObject) -> WireError?)] = [
        ("member.add", [:], { Wire.refusal(MemberAddRequest.self, $0) }),
        ("member.remove", [:], { Wire.refusal(MemberUsersRequest.self, $0) }),
        ("member.ban", [:], { Wire.refusal(MemberUntilRequest.self, $0) }),
        ("member.role", ["role": "reader"], { Wire.refusal(MemberRoleRequest.self, $0) }),
    ]

    @Test(
        arguments: [
            .missing("users"), .invalid("users", [], Rule.filled), .invalid("users", "bob", Rule.array),
            .invalid("users", ["bob", 7], at: "users[1]", Rule.user), .invalid("users", ["", "bob"], at: "users[0]", Rule.user),
            .invalid("users", ["bob", nil], at: "users[1]", Rule.user), .invalid("users", [["bob"]], at: "users[0]", Rule.user),
            .tooLarge("users", Wire.list("bob", 101), Rule.elements(100)), .invalid("users", ["аlice"], at: "users[0]", Rule.user),
        ] as [Refusal])
    func aWrongUserIsNamedByTheIndex(refusal: Refusal) {
        for (name, fields, read) in Self.naming {
            var request: JSONObject = ["id": "m", "conv": Wire.conv, "users": ["bob"]]
            for (field, value) in fields { request[field] = value }
            #expect(read(request) == nil, "\(name)")
            request[refusal.field] = refusal.value
            #expect(read(request) == refusal.error, "\(name)")
        }
    }

    @Test func aRequestNamesUpToAHundredUsers() {
        for (name, fields, read) in Self.naming {
            for count in [1, 99, 100] {
                var request: JSONObject = ["id": "m", "conv": Wire.conv, "users": Wire.list("bob", count)]
                for (field, value) in fields { request[field] = value }
                #expect(read(request) == nil, "\(name) \(count)")
            }
        }
    }

    /// Names are prepared at the entry, so the server compares them by their bytes.
    @Test func namesArePrepared() throws {
        let request = try MemberAddRequest(json: ["id": "m", "conv": Wire.conv, "users": ["Bob", "ｃａｒｏｌ", "E\u{301}lan", "ΣΟΦΟΣ"]])
        let expected = ["bob", "carol", "\u{E9}lan", "\u{3C3}\u{3BF}\u{3C6}\u{3BF}\u{3C3}"]
        #expect(request.users.map { Array($0.rawValue.unicodeScalars) } == expected.map { Array($0.unicodeScalars) })
    }

    // MARK: Roles and times

    private static let roles = Rule.oneOf("owner", "admin", "member", "reader", "guest")

    @Test(
        arguments: [
            .missing("role"), .invalid("role", "moderator", roles), .invalid("role", "unknown", roles), .invalid("role", "ADMIN", roles),
            .invalid("role", "", roles), .invalid("role", 1, Rule.string),
        ] as [Refusal])
    func aRoleIsOneOfFive(refusal: Refusal) {
        refusal.check(MemberRoleRequest.self, ["id": "m", "conv": Wire.conv, "users": ["bob"], "role": "guest"])
    }

    /// One user becomes the owner. Several users, also the same one twice, are refused.
    @Test(arguments: [(["bob"], true), (["bob", "carol"], false), (["bob", "bob"], false)] as [([JSONValue], Bool)])
    func oneUserBecomesTheOwner(users: [JSONValue], isRead: Bool) {
        let error = WireError(.invalid, field: "users", rule: "must name one user for the role `owner`")
        let owner: JSONObject = ["id": "m", "conv": Wire.conv, "users": .array(users), "role": "owner"]
        #expect(Wire.refusal(MemberRoleRequest.self, owner) == (isRead ? nil : error))
        var admin = owner
        admin["role"] = "admin"
        #expect(Wire.refusal(MemberRoleRequest.self, admin) == nil)
    }

    @Test(
        arguments: [
            .invalid("until", -1, Rule.count), .invalid("until", "0", Rule.count), .invalid("until", 1.5, Rule.count),
            .invalid("until", 9_007_199_254_740_992, Rule.count),
        ] as [Refusal])
    func aBanNamesItsWrongEnd(refusal: Refusal) {
        refusal.check(MemberUntilRequest.self, ["id": "m", "conv": Wire.conv, "users": ["bob"]])
    }

    /// Without an end, a ban or the silencing lasts. The end 0 restores the permission to write.
    @Test func noEndDiffersFromTheEndZero() throws {
        let users: JSONObject = ["id": "m", "conv": Wire.conv, "users": ["bob"]]
        #expect(try MemberUntilRequest(json: .object(users)).until == nil)
        #expect(try Wire.rewritten(MemberUntilRequest.self, users, "until", 0) == 0)
    }

    // MARK: Answers of users

    @Test(
        arguments: [
            .missing("accept"), .invalid("accept", "true", Rule.bool), .invalid("accept", 1, Rule.bool), .invalid("accept", [], Rule.bool),
        ] as [Refusal])
    func anAnswerOfAUserIsTrueOrFalse(refusal: Refusal) {
        refusal.check(MemberAnswerRequest.self, ["id": "m", "conv": Wire.conv, "accept": true])
        refusal.check(MemberApproveRequest.self, ["id": "m", "conv": Wire.conv, "user": "bob", "accept": true])
        refusal.check(ContactAnswerRequest.self, ["id": "m", "user": "bob", "accept": true])
    }

    @Test(
        arguments: [
            ([:], false), (["conv": Wire.conv], true), (["link": "k7Qm2ZtX9bVw4NsA"], true),
            (["conv": Wire.conv, "link": "k7Qm2ZtX9bVw4NsA"], false), (["conv": nil, "link": "k7Qm2ZtX9bVw4NsA"], true),
            (["conv": Wire.conv, "link": nil], true),
        ] as [(JSONObject, Bool)])
    func aJoinNamesOneWay(fields: JSONObject, isRead: Bool) {
        var request = fields
        request["id"] = "m"
        let error = WireError(.invalid, field: "conv", rule: "or `link` is required, but not both")
        #expect(Wire.refusal(MemberJoinRequest.self, request) == (isRead ? nil : error))
    }
}
