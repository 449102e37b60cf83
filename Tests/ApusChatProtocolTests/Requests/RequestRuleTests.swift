import ApusChatProtocol
import ApusJSON
import Testing

/// The rules that concern several fields of a request.
@Suite("Rules of requests")
struct RequestRuleTests {
    private static let conv: JSONValue = "0000000000001"

    private func problem<Request: WireObject>(_ type: Request.Type, _ fields: JSONValue) -> WireError? {
        do throws(WireError) {
            _ = try Request(json: fields)
            return nil
        } catch { return error }
    }

    @Test func historyHasOneRange() throws {
        #expect(try HistoryRequest(json: ["conv": Self.conv]).range == .newest)
        #expect(try HistoryRequest(json: ["conv": Self.conv, "from": 3]).range == .from(3))
        #expect(try HistoryRequest(json: ["conv": Self.conv, "before": 3]).range == .before(3))
        let around = try HistoryRequest(json: ["conv": Self.conv, "around": 3, "thread": 2, "limit": 9])
        #expect(around.range == .around(3) && around.thread == 2 && around.limit == 9)
        #expect(try HistoryRequest(json: around.json) == around)
        #expect(self.problem(HistoryRequest.self, ["conv": Self.conv, "from": 3, "before": 4])?.field == "from")
        #expect(self.problem(HistoryRequest.self, ["conv": Self.conv, "around": 3, "before": 4])?.field == "from")
        let edits = try HistoryRequest(json: ["conv": Self.conv, "edits": 5])
        #expect(edits.edits == 5 && edits.range == .newest && edits.json["edits"] == 5)
        #expect(self.problem(HistoryRequest.self, ["conv": Self.conv, "edits": 5, "thread": 2])?.field == "edits")
        #expect(self.problem(HistoryRequest.self, ["conv": Self.conv, "limit": 201])?.field == "limit")
        #expect(self.problem(HistoryRequest.self, ["conv": Self.conv, "from": 0])?.field == "from")
    }

    @Test func markSaysSomething() {
        #expect(self.problem(MarkRequest.self, ["conv": Self.conv])?.field == "read")
        #expect(self.problem(MarkRequest.self, ["conv": Self.conv, "received": 1]) == nil)
    }

    @Test func joinHasAConversationOrALink() {
        let link: JSONValue = "k7Qm2ZtX9bVw4NsA"
        #expect(self.problem(MemberJoinRequest.self, ["id": "a", "link": link]) == nil)
        #expect(self.problem(MemberJoinRequest.self, ["id": "a", "conv": Self.conv]) == nil)
        #expect(self.problem(MemberJoinRequest.self, ["id": "a"])?.field == "conv")
        #expect(self.problem(MemberJoinRequest.self, ["id": "a", "conv": Self.conv, "link": link])?.field == "conv")
    }

    @Test func oneUserBecomesTheOwner() {
        let one: JSONValue = ["id": "a", "conv": Self.conv, "users": ["bob"], "role": "owner"]
        let two: JSONValue = ["id": "a", "conv": Self.conv, "users": ["bob", "carol"], "role": "owner"]
        #expect(self.problem(MemberRoleRequest.self, one) == nil)
        #expect(self.problem(MemberRoleRequest.self, two)?.field == "users")
    }

    @Test(arguments: ["owner", "admin"])
    func linksDoNotGivePower(role: String) {
        #expect(self.problem(LinkCreateRequest.self, ["id": "a", "conv": Self.conv, "role": .string(role)])?.field == "role")
    }

    @Test(arguments: ["self", "pair"])
    func groupsAndChannelsAreCreated(kind: String) {
        #expect(self.problem(CreateRequest.self, ["id": "a", "kind": .string(kind), "title": "T"])?.field == "kind")
    }

    @Test func settingsOfLaterVersionsAreNotSilentlyDropped() {
        let create: JSONValue = ["id": "a", "kind": "group", "title": "T", "settings": ["write": "moderators"]]
        #expect(self.problem(CreateRequest.self, create)?.problem == .unsupported)
        let set: JSONValue = ["id": "a", "conv": Self.conv, "settings": ["join": "lottery"]]
        #expect(self.problem(ConversationSetRequest.self, set)?.problem == .unsupported)
        #expect(self.problem(SettingsSetRequest.self, ["id": "a", "settings": ["find": "friends"]])?.problem == .unsupported)
        #expect(self.problem(ConversationSetRequest.self, ["id": "a", "conv": Self.conv])?.field == "title")
    }

    @Test func devicesAreNamedOrAllOthers() {
        #expect(self.problem(DeviceRemoveRequest.self, ["id": "a"])?.field == "device")
        #expect(self.problem(DeviceRemoveRequest.self, ["id": "a", "device": Self.conv, "others": true])?.field == "device")
        #expect(self.problem(DeviceRemoveRequest.self, ["id": "a", "device": Self.conv]) == nil)
    }

    @Test func reportsNameSomething() {
        #expect(self.problem(ReportRequest.self, ["id": "a", "reason": "spam"])?.field == "user")
        #expect(self.problem(ReportRequest.self, ["id": "a", "reason": "spam", "seqs": [1]])?.field == "user")
        #expect(self.problem(ReportRequest.self, ["id": "a", "reason": "spam", "conv": Self.conv]) == nil)
        #expect(self.problem(ReportRequest.self, ["id": "a", "reason": "spam", "conv": Self.conv, "seqs": [1]]) == nil)
    }

    @Test(arguments: ["ringing", "missed"])
    func statesOfTheServerAreNotSet(state: String) {
        let fields: JSONValue = ["id": "a", "conv": Self.conv, "call": 1, "state": .string(state)]
        #expect(self.problem(CallUpdateRequest.self, fields)?.field == "state")
    }

    @Test func passwordsHaveALength() {
        let device: JSONValue = ["name": "d", "platform": "web"]
        let short: JSONValue = ["name": "alice", "password": "1234567", "device": device]
        #expect(self.problem(RegisterRequest.self, short)?.field == "password")
        #expect(self.problem(PasswordRequest.self, ["old": "x", "new": "1234567", "device": device])?.field == "new")
        #expect(self.problem(PasswordRequest.self, ["new": "12345678", "device": device])?.field == "old")
        #expect(self.problem(PasswordRequest.self, ["old": "x", "recovery": "y", "new": "12345678", "device": device])?.field == "old")
    }

    @Test func emptyStringsRemoveValues() throws {
        let set = try ProfileSetRequest(json: ["id": "a", "nick": "", "avatar": "", "status": ""])
        #expect(set.nick == "" && set.avatar == .remove && set.status == "" && set.avatar?.blob == nil)
        #expect(try ProfileSetRequest(json: ["id": "a"]).avatar == nil)
    }

    @Test func foldersCanBeEmptied() throws {
        #expect(try OwnSetRequest(json: ["id": "a", "conv": Self.conv, "folders": []]).folders == [])
        #expect(try OwnSetRequest(json: ["id": "a", "conv": Self.conv]).folders == nil)
        #expect(try SettingsSetRequest(json: ["id": "a", "settings": ["folders": []]]).settings.folders == [])
        #expect(try SettingsSetRequest(json: ["id": "a", "settings": [:]]).settings.folders == nil)
    }
}
