import ApusChatProtocol
import ApusJSON
import Testing

/// The fields of the requests for conversations, members and links, and of their answers.
@Suite struct ConversationFieldsTests {
    private let head = ChatHead(conversation: Wire.room, kind: .group, title: "T", seq: 3, n: 2, at: 4)
    private let headJSON: JSONValue = ["conv": Wire.conv, "kind": "group", "title": "T", "seq": 3, "n": 2, "at": 4]

    /// A change of all settings to values that are not the defaults.
    private var change: ConversationSettingsChange {
        var change = ConversationSettingsChange()
        (change.write, change.invite, change.manage, change.pin) = (.admins, .members, .admins, .members)
        (change.mentionAll, change.join, change.listed) = (.admins, .approval, true)
        (change.history, change.slow, change.expire, change.receipts) = (.join, 30, 60, false)
        return change
    }

    private let changeJSON: JSONValue = [
        "write": "admins", "invite": "members", "manage": "admins", "pin": "members", "mention_all": "admins", "join": "approval",
        "listed": true, "history": "join", "slow": 30, "expire": 60, "receipts": false,
    ]

    // MARK: Conversations

    @Test func conversationsAreOpenedAndCreated() throws {
        let id = try Wire.id("m")
        try Wire.check(OpenRequest(id: id, user: Wire.bob), ["id": "m", "user": "bob"])
        try Wire.check(
            CreateRequest(
                id: id, kind: .channel, title: "T", about: "A", avatar: try Wire.blob(), users: [Wire.bob, Wire.carol],
                settings: self.change),
            [
                "id": "m", "kind": "channel", "title": "T", "about": "A", "avatar": Wire.hash, "users": ["bob", "carol"],
                "settings": self.changeJSON,
            ])
        try Wire.check(
            HeadAnswer(head: self.head, invited: [Wire.bob], unknown: [Wire.carol]),
            ["head": self.headJSON, "invited": ["bob"], "unknown": ["carol"]])
        try Wire.check(HeadAnswer(head: self.head), ["head": self.headJSON])
    }

    @Test func conversationsAreDescribed() throws {
        try Wire.check(InfoRequest(conversation: Wire.room), ["conv": Wire.conv])
        try Wire.check(
            InfoAnswer(head: self.head, about: "A", createdAt: 5, by: Wire.bob),
            ["head": self.headJSON, "about": "A", "created_at": 5, "by": "bob"])
        try Wire.check(DirectoryRequest(query: "q", page: try Wire.token("p")), ["query": "q", "page": "p"])
        try Wire.check(DirectoryRequest(), [:])
        try Wire.check(
            DirectoryAnswer(
                conversations: [
                    DirectoryEntry(
                        conversation: Wire.room, kind: .channel, title: "T", about: "A", avatar: try Wire.blob(), members: 6,
                        join: .approval)
                ], page: try Wire.token("p")),
            [
                "conversations": [
                    [
                        "conv": Wire.conv, "kind": "channel", "title": "T", "about": "A", "avatar": Wire.hash, "members": 6,
                        "join": "approval",
                    ]
                ], "page": "p",
            ])
    }

    @Test func conversationsAreChangedAndDeleted() throws {
        let id = try Wire.id("m")
        try Wire.check(
            ConversationSetRequest(
                id: id, conversation: Wire.room, title: "T", about: "A", avatar: .set(try Wire.blob()), settings: self.change),
            ["id": "m", "conv": Wire.conv, "title": "T", "about": "A", "avatar": Wire.hash, "settings": self.changeJSON])
        try Wire.check(
            ConversationSetRequest(id: id, conversation: Wire.room, about: "", avatar: .remove),
            ["id": "m", "conv": Wire.conv, "about": "", "avatar": ""])
        #expect(throws: WireError.self) { try ConversationSetRequest(json: ["id": "m", "conv": Wire.conv]) }
        try Wire.check(DeleteRequest(id: id, conversation: Wire.room, isForAll: true), ["id": "m", "conv": Wire.conv, "for_all": true])
        try Wire.check(DeleteRequest(id: id, conversation: Wire.room), ["id": "m", "conv": Wire.conv])
    }

    /// A change of one setting does not contain or change the others.
    @Test(
        arguments: [
            ("write", "admins"), ("invite", "admins"), ("manage", "members"), ("pin", "members"), ("mention_all", "members"),
            ("join", "open"), ("listed", true), ("history", "all"), ("slow", 7), ("expire", 8), ("receipts", false),
        ] as [(String, JSONValue)])
    func oneSettingIsChanged(field: String, value: JSONValue) throws {
        let json = JSONValue.object(JSONObject([(field, value)]))
        let change = try ConversationSettingsChange(json: json)
        #expect(change.json == json && !change.isEmpty && change.isKnown)
        let defaults = try #require(ConversationSettings().json.objectValue)
        var settings = ConversationSettings()
        settings.apply(change)
        var expected = defaults
        expected[field] = value
        #expect(settings.json == .object(expected))
    }

    // MARK: Members

    @Test func membersAreListed() throws {
        try Wire.check(
            MembersRequest(conversation: Wire.room, query: "q", state: .requested, page: try Wire.token("p")),
            ["conv": Wire.conv, "query": "q", "state": "requested", "page": "p"])
        let member = ChatMember(
            user: ChatUser(name: Wire.bob), role: .admin, state: .banned, since: 1, read: 2, received: 7, mutedUntil: 3, bannedUntil: 4,
            by: Wire.carol)
        let json: JSONValue = [
            "user": ["name": "bob"], "role": "admin", "state": "banned", "since": 1, "read": 2, "received": 7, "muted_until": 3,
            "banned_until": 4, "by": "carol",
        ]
        try Wire.check(member, json)
        try Wire.check(
            MembersAnswer(members: [member], version: 5, total: 6, page: try Wire.token("p")),
            ["members": [json], "version": 5, "total": 6, "page": "p"])
    }

    @Test func membersAreAddedAndAnswer() throws {
        let id = try Wire.id("m")
        try Wire.check(
            MemberAddRequest(id: id, conversation: Wire.room, users: [Wire.bob, Wire.carol]),
            ["id": "m", "conv": Wire.conv, "users": ["bob", "carol"]])
        try Wire.check(
            MemberAddAnswer(
                conversation: Wire.room, id: id, seq: 9, at: 8, added: [Wire.alice], invited: [Wire.bob], unknown: [Wire.carol]),
            ["conv": Wire.conv, "id": "m", "seq": 9, "at": 8, "added": ["alice"], "invited": ["bob"], "unknown": ["carol"]])
        for isAccepted in [true, false] {
            try Wire.check(
                MemberAnswerRequest(id: id, conversation: Wire.room, isAccepted: isAccepted),
                ["id": "m", "conv": Wire.conv, "accept": .bool(isAccepted)])
            try Wire.check(
                MemberApproveRequest(id: id, conversation: Wire.room, user: Wire.bob, isAccepted: isAccepted),
                ["id": "m", "conv": Wire.conv, "user": "bob", "accept": .bool(isAccepted)])
        }
        try Wire.check(
            MemberAnswerAnswer(conversation: Wire.room, id: id, seq: 9, at: 8, head: self.head),
            ["conv": Wire.conv, "id": "m", "seq": 9, "at": 8, "head": self.headJSON])
        try Wire.check(MemberAnswerAnswer(conversation: Wire.room, id: id, at: 8), ["conv": Wire.conv, "id": "m", "at": 8])
    }

    @Test func aJoinNamesAConversationOrALink() throws {
        let id = try Wire.id("m")
        try Wire.check(MemberJoinRequest(id: id, conversation: Wire.room), ["id": "m", "conv": Wire.conv])
        try Wire.check(MemberJoinRequest(id: id, link: try Wire.code()), ["id": "m", "link": "k7Qm2ZtX9bVw4NsA"])
        #expect(throws: WireError.self) { try MemberJoinRequest(json: ["id": "m"]) }
        #expect(throws: WireError.self) {
            try MemberJoinRequest(json: ["id": "m", "conv": Wire.conv, "link": "k7Qm2ZtX9bVw4NsA"])
        }
    }

    @Test func membersAreChangedAndLeave() throws {
        let (id, users, json) = (try Wire.id("m"), [Wire.bob, Wire.carol], ["bob", "carol"] as JSONValue)
        try Wire.check(MemberLeaveRequest(id: id, conversation: Wire.room), ["id": "m", "conv": Wire.conv])
        try Wire.check(MemberUsersRequest(id: id, conversation: Wire.room, users: users), ["id": "m", "conv": Wire.conv, "users": json])
        try Wire.check(
            MemberUntilRequest(id: id, conversation: Wire.room, users: users, until: 5),
            ["id": "m", "conv": Wire.conv, "users": json, "until": 5])
        try Wire.check(
            MemberRoleRequest(id: id, conversation: Wire.room, users: users, role: .reader),
            ["id": "m", "conv": Wire.conv, "users": json, "role": "reader"])
    }

    // MARK: Links

    @Test func linksAreCreatedAndListed() throws {
        let (id, code) = (try Wire.id("m"), try Wire.code())
        try Wire.check(
            LinkCreateRequest(id: id, conversation: Wire.room, role: .guest, expiresAt: 8, uses: 9, needsApproval: true),
            ["id": "m", "conv": Wire.conv, "role": "guest", "expires_at": 8, "uses": 9, "approval": true])
        let link = InviteLink(
            code: code, role: .guest, by: Wire.bob, at: 7, expiresAt: 8, uses: 9, used: 4, needsApproval: true)
        let json: JSONValue = [
            "code": "k7Qm2ZtX9bVw4NsA", "role": "guest", "by": "bob", "at": 7, "expires_at": 8, "uses": 9, "used": 4, "approval": true,
        ]
        try Wire.check(LinkAnswer(link: link), ["link": json])
        try Wire.check(LinkListRequest(conversation: Wire.room), ["conv": Wire.conv])
        try Wire.check(LinkListAnswer(links: [link]), ["links": [json]])
        try Wire.check(
            LinkRevokeRequest(id: id, conversation: Wire.room, code: code), ["id": "m", "conv": Wire.conv, "code": "k7Qm2ZtX9bVw4NsA"])
        try Wire.check(LinkInfoRequest(code: code), ["code": "k7Qm2ZtX9bVw4NsA"])
        try Wire.check(
            LinkInfoAnswer(
                title: "T", kind: .channel, avatar: try Wire.blob(), members: 6, join: .approval, by: ChatUser(name: Wire.bob)),
            ["title": "T", "kind": "channel", "avatar": Wire.hash, "members": 6, "join": "approval", "by": ["name": "bob"]])
    }
}
