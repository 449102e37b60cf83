import ApusChatProtocol
import ApusJSON
import Testing

/// The fields of the requests for users, contacts, devices and settings, and of their answers.
@Suite struct PeopleFieldsTests {
    private let user = ChatUser(name: Wire.bob, nick: "Bob", status: "S", online: true, lastSeen: 6)
    private let userJSON: JSONValue = ["name": "bob", "nick": "Bob", "status": "S", "online": true, "last_seen": 6]

    @Test func users() throws {
        try Wire.check(self.user, self.userJSON)
        try Wire.check(
            ChatUser(name: Wire.bob, avatar: try Wire.blob(), online: false, isDeleted: true),
            ["name": "bob", "avatar": Wire.hash, "online": false, "deleted": true])
        try Wire.check(
            ProfileSetRequest(id: try Wire.id("m"), nick: "N", avatar: .set(try Wire.blob()), status: "S"),
            ["id": "m", "nick": "N", "avatar": Wire.hash, "status": "S"])
        try Wire.check(
            ProfileSetRequest(id: try Wire.id("m"), nick: "", avatar: .remove, status: ""),
            ["id": "m", "nick": "", "avatar": "", "status": ""])
        try Wire.check(UserAnswer(user: self.user), ["user": self.userJSON])
        try Wire.check(UsersRequest(names: [Wire.carol, Wire.bob]), ["names": ["carol", "bob"]])
        try Wire.check(UsersAnswer(users: [self.user], page: try Wire.token("p")), ["users": [self.userJSON], "page": "p"])
        try Wire.check(PeopleRequest(query: "q", page: try Wire.token("p")), ["query": "q", "page": "p"])
    }

    @Test(arguments: [(ContactState.friend, "friend"), (.asking, "asking"), (.asked, "asked"), (.blocked, "blocked")])
    func contacts(state: ContactState, text: String) throws {
        let contact = Contact(user: self.user, state: state, alias: "A", text: "T", at: 7)
        let json: JSONValue = ["user": self.userJSON, "state": .string(text), "alias": "A", "text": "T", "at": 7]
        try Wire.check(contact, json)
        try Wire.check(ContactsAnswer(contacts: [contact], page: try Wire.token("p")), ["contacts": [json], "page": "p"])
        try Wire.check(ContactsRequest(state: state, page: try Wire.token("p")), ["state": .string(text), "page": "p"])
    }

    @Test func contactsAreChanged() throws {
        let id = try Wire.id("m")
        try Wire.check(
            ContactRequestRequest(id: id, user: Wire.bob, text: "T", alias: "A"), ["id": "m", "user": "bob", "text": "T", "alias": "A"])
        for isAccepted in [true, false] {
            try Wire.check(
                ContactAnswerRequest(id: id, user: Wire.bob, isAccepted: isAccepted),
                ["id": "m", "user": "bob", "accept": .bool(isAccepted)])
        }
        try Wire.check(ContactUserRequest(id: id, user: Wire.bob), ["id": "m", "user": "bob"])
        try Wire.check(ContactAliasRequest(id: id, user: Wire.bob, alias: ""), ["id": "m", "user": "bob", "alias": ""])
    }

    @Test(arguments: [
        (ReportReason.spam, "spam"), (.abuse, "abuse"), (.violence, "violence"), (.illegal, "illegal"),
        (.impersonation, "impersonation"), (.other, "other"),
    ])
    func reports(reason: ReportReason, text: String) throws {
        let id = try Wire.id("m")
        try Wire.check(
            ReportRequest(id: id, conversation: Wire.room, seqs: [4, 2], reason: reason, text: "T"),
            ["id": "m", "conv": Wire.conv, "seqs": [4, 2], "reason": .string(text), "text": "T"])
        try Wire.check(
            ReportRequest(id: id, user: Wire.bob, reason: reason), ["id": "m", "user": "bob", "reason": .string(text)])
    }

    // MARK: Devices

    @Test func devices() throws {
        let id = try Wire.id("m")
        let device = ChatDevice(
            device: Wire.device, name: "N", platform: "web", at: 1, lastSeen: 2, address: "192.0.2.1", isCurrent: true)
        let json: JSONValue = [
            "device": "0000000000005", "name": "N", "platform": "web", "at": 1, "last_seen": 2, "address": "192.0.2.1", "current": true,
        ]
        try Wire.check(DevicesAnswer(devices: [device], hasAuthenticator: true), ["devices": [json], "authenticator": true])
        try Wire.check(DeviceRemoveRequest(id: id, device: Wire.device), ["id": "m", "device": "0000000000005"])
        try Wire.check(DeviceRemoveRequest(id: id, isOthers: true), ["id": "m", "others": true])
        #expect(throws: WireError.self) { try DeviceRemoveRequest(json: ["id": "m"]) }
        #expect(throws: WireError.self) { try DeviceRemoveRequest(json: ["id": "m", "device": "0000000000005", "others": true]) }
    }

    @Test(arguments: [(PushService.web, "web"), (.apns, "apns"), (.fcm, "fcm")])
    func pushServices(service: PushService, text: String) throws {
        try Wire.check(
            PushSetRequest(id: try Wire.id("m"), service: service, data: ["token": "t"]),
            ["id": "m", "kind": .string(text), "data": ["token": "t"]])
    }

    @Test func aDeviceWithoutPushesHasNoData() throws {
        try Wire.check(PushSetRequest(id: try Wire.id("m"), service: .none), ["id": "m", "kind": "none"])
    }

    // MARK: Settings

    @Test func ownSettings() throws {
        let id = try Wire.id("m")
        try Wire.check(
            OwnSetRequest(
                id: id, conversation: Wire.room, isPinned: true, isArchived: false, mutedUntil: 5, notify: .mentions, isMarkedUnread: true,
                folders: ["Work", "家"]),
            [
                "id": "m", "conv": Wire.conv, "pinned": true, "archived": false, "muted_until": 5, "notify": "mentions",
                "marked_unread": true, "folders": ["Work", "家"],
            ])
        // The removal from all folders differs from no change.
        try Wire.check(
            OwnSetRequest(id: id, conversation: Wire.room, folders: []), ["id": "m", "conv": Wire.conv, "folders": []])
        try Wire.check(
            DraftRequest(id: id, conversation: Wire.room, text: "T", ref: 3), ["id": "m", "conv": Wire.conv, "text": "T", "ref": 3])
        try Wire.check(DraftRequest(id: id, conversation: Wire.room, text: ""), ["id": "m", "conv": Wire.conv, "text": ""])
    }

    @Test func settingsOfTheUser() throws {
        let settings = UserSettings(
            messages: .contacts, lastSeen: Audience.none, avatar: .all, add: .contacts, find: Audience.none, receipts: false, typing: true,
            quietFrom: 1_320, quietUntil: 420, folders: [Folder(name: "Work"), Folder(name: "Unread", filter: "unread")])
        let json: JSONValue = [
            "messages": "contacts", "last_seen": "none", "avatar": "all", "add": "contacts", "find": "none", "receipts": false,
            "typing": true, "quiet_from": 1_320, "quiet_until": 420,
            "folders": [["name": "Work"], ["name": "Unread", "filter": "unread"]],
        ]
        try Wire.check(SettingsAnswer(settings: settings), ["settings": json])
        try Wire.check(SettingsSetRequest(id: try Wire.id("m"), settings: settings), ["id": "m", "settings": json])
        // The removal of all folders differs from no change.
        try Wire.check(SettingsAnswer(settings: UserSettings(folders: [])), ["settings": ["folders": []]])
        try Wire.check(SettingsAnswer(settings: UserSettings()), ["settings": [:]])
    }

    @Test(arguments: ["messages", "last_seen", "avatar", "add", "find"])
    func anAudienceOfALaterVersionIsNotStored(field: String) throws {
        let settings = JSONValue.object(JSONObject([(field, JSONValue.string("friends_of_friends"))]))
        let error = #expect(throws: WireError.self) { try SettingsSetRequest(json: ["id": "m", "settings": settings]) }
        #expect(error?.problem == .unsupported)
        // An answer with it is read.
        #expect(throws: Never.self) { try SettingsAnswer(json: ["settings": settings]) }
    }
}
