import ApusChatProtocol
import ApusJSON
import Testing

/// The fields of the bodies of changes, and the kinds to which they belong.
@Suite struct ChangeFieldsTests {
    private func event(_ kind: String, _ body: JSONObject) -> ChatEvent {
        ChatEvent(
            conversation: Wire.room, seq: 9, n: nil, sender: Wire.bob, id: nil, at: 5, kind: EventKind(rawValue: kind), ref: 3, body: body)
    }

    private func check<Body: WireObject & Equatable>(
        _ kinds: [String], _ body: Body, _ wrap: (Body) -> ChatChange, _ json: JSONValue, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try Wire.check(body, json, sourceLocation: sourceLocation)
        let fields = try #require(json.objectValue)
        for kind in kinds { #expect(ChatChange(self.event(kind, fields)) == wrap(body), "\(kind)", sourceLocation: sourceLocation) }
    }

    // MARK: Messages

    @Test func changesOfMessages() throws {
        try self.check(["edit"], EditBody(body: ["text": "x"]), ChatChange.edit, ["body": ["text": "x"]])
        try self.check(
            ["preview"], PreviewBody(preview: LinkPreview(url: "https://a.test", title: "T")), ChatChange.preview,
            ["preview": ["url": "https://a.test", "title": "T"]])
        try self.check(["preview"], PreviewBody(), ChatChange.preview, [:])
        try self.check(["react"], ReactBody(key: "👍", isRemoval: true), ChatChange.react, ["key": "👍", "remove": true])
        try self.check(["react"], ReactBody(key: "👍"), ChatChange.react, ["key": "👍"])
        try self.check(["vote"], VoteBody(options: [1, 0]), ChatChange.vote, ["options": [1, 0]])
        try self.check(["vote"], VoteBody(), ChatChange.vote, [:])
        try self.check(["pin"], PinBody(isRemoval: true), ChatChange.pin, ["remove": true])
        try self.check(["pin"], PinBody(), ChatChange.pin, [:])
        try self.check(
            ["call.update"], CallUpdateBody(state: .ended, duration: 6), ChatChange.callUpdate, ["state": "ended", "duration": 6])
        #expect(ChatChange(self.event("recall", [:])) == .recall)
        #expect(ChatChange(self.event("poll.close", [:])) == .pollClose)
    }

    // MARK: Conversations

    @Test func changesOfConversations() throws {
        try self.check(
            ["conversation.create"], ConversationCreateBody(kind: .channel, title: "T"), ChatChange.conversationCreate,
            ["kind": "channel", "title": "T"])
        var settings = ConversationSettingsChange()
        (settings.slow, settings.listed) = (30, false)
        try self.check(
            ["conversation.set"],
            ConversationSetBody(title: "T", avatar: .set(try Wire.blob()), about: "A", settings: settings), ChatChange.conversationSet,
            ["title": "T", "avatar": Wire.hash, "about": "A", "settings": ["slow": 30, "listed": false]])
        try self.check(
            ["conversation.set"], ConversationSetBody(avatar: .remove, about: ""), ChatChange.conversationSet, ["avatar": "", "about": ""])
    }

    @Test(arguments: [
        (JoinWay.add, "add"), (.invite, "invite"), (.link, "link"), (.directory, "directory"), (.approval, "approval"),
    ])
    func changesOfMembers(way: JoinWay, text: String) throws {
        try self.check(
            [
                "member.join", "member.invite", "member.leave", "member.remove", "member.ban", "member.unban", "member.role",
                "member.mute",
            ], MemberBody(users: [Wire.carol, Wire.bob], role: .reader, until: 7, via: way), ChatChange.members,
            ["users": ["carol", "bob"], "role": "reader", "until": 7, "via": .string(text)])
    }

    // MARK: The user

    @Test func changesOfOwnSettings() throws {
        try self.check(
            ["self.pin", "self.archive", "self.mute", "self.unread", "self.folder"],
            OwnSetBody(
                conversation: Wire.room, pinnedAt: 4, isArchived: true, mutedUntil: 5, notify: .mentions, isMarkedUnread: false,
                folders: ["Work"]), ChatChange.ownSet,
            [
                "conv": Wire.conv, "pinned_at": 4, "archived": true, "muted_until": 5, "notify": "mentions", "marked_unread": false,
                "folders": ["Work"],
            ])
        try self.check(
            ["self.folder"], OwnSetBody(conversation: Wire.room, folders: []), ChatChange.ownSet, ["conv": Wire.conv, "folders": []])
        try self.check(
            ["self.draft"], DraftBody(conversation: Wire.room, draft: DraftText(text: "T", ref: 3)), ChatChange.draft,
            ["conv": Wire.conv, "draft": ["text": "T", "ref": 3]])
        try self.check(["self.draft"], DraftBody(conversation: Wire.room), ChatChange.draft, ["conv": Wire.conv])
        try self.check(
            ["self.hide"], HideBody(conversation: Wire.room, seqs: [4, 2]), ChatChange.hide, ["conv": Wire.conv, "seqs": [4, 2]])
        try self.check(["self.set"], OwnUserBody(users: [Wire.alice]), ChatChange.ownUser, ["users": ["alice"]])
    }

    @Test func changesOfContactsAndDevices() throws {
        try self.check(
            [
                "contact.request", "contact.accept", "contact.remove", "contact.alias", "contact.block", "contact.unblock",
            ], ContactBody(user: Wire.bob, isIncoming: true, alias: "A", text: "T"), ChatChange.contact,
            ["user": "bob", "incoming": true, "alias": "A", "text": "T"])
        try self.check(
            ["device.add", "device.remove"], DeviceBody(device: Wire.device, name: "N", platform: "web"), ChatChange.device,
            ["device": "0000000000005", "name": "N", "platform": "web"])
    }

    // MARK: Other events

    @Test(arguments: ["text", "image", "call", "poll", "hidden", "encrypted", "x.game", "later", "member.later"])
    func messagesAndUnknownKindsAreNoChanges(kind: String) { #expect(ChatChange(self.event(kind, ["text": "x"])) == nil) }

    @Test(
        arguments: [
            ("edit", [:]), ("react", [:]), ("react", ["key": 7]), ("self.draft", [:]), ("self.hide", [:]),
            ("contact.request", [:]), ("device.add", ["name": "N"]), ("vote", ["options": "x"]),
        ] as [(String, JSONObject)])
    func aDamagedChangeIsNil(kind: String, body: JSONObject) { #expect(ChatChange(self.event(kind, body)) == nil) }
}
