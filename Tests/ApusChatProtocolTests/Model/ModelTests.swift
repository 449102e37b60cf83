import ApusChatProtocol
import ApusJSON
import Testing

@Suite("The model on the wire")
struct ModelTests {
    @Test func hiddenEventDisclosesNothing() throws {
        let event = ChatEvent.hidden(conversation: ConversationID(number: 1), seq: 4, n: 2)
        #expect(try event.json.jsonString() == #"{"conv":"0000000000001","seq":4,"n":2,"kind":"hidden"}"#)
        #expect(try ChatEvent(json: event.json) == event)
    }

    @Test func eventOfALaterKindKeepsItsContent() throws {
        let fields: JSONValue = [
            "conv": "0000000000001", "seq": 1, "n": 1, "at": 5, "kind": "sticker", "body": ["pack": "birds", "x": [1]],
        ]
        let event = try ChatEvent(json: fields)
        #expect(event.json == fields && ChatBody(event) == nil && !event.kind.isKnown)
    }

    @Test(arguments: [EventState.recalled, .expired, .erased])
    func blankStates(state: EventState) {
        #expect(state.isBlank)
        #expect(!EventState.normal.isBlank && !EventState.edited.isBlank && !EventState.unknown.isBlank)
    }

    @Test func onlyTheNamedSettingsChange() throws {
        var settings = ConversationSettings()
        settings.slow = 5
        settings.apply(try ConversationSettingsChange(json: ["write": "admins", "listed": true, "expire": 60, "receipts": false]))
        #expect(settings.write == .admins && settings.listed && settings.expire == 60 && settings.slow == 5 && !settings.receipts)
        #expect(settings.invite == .members && settings.history == .all)
        settings.apply(ConversationSettingsChange())
        #expect(try ConversationSettings(json: settings.json) == settings)
        #expect(ConversationSettingsChange().isEmpty)
        settings.apply(
            try ConversationSettingsChange(json: [
                "invite": "admins", "manage": "members", "pin": "members", "mention_all": "members", "join": "open", "history": "join",
                "slow": 0,
            ]))
        #expect(settings.invite == .admins && settings.manage == .members && settings.pin == .members && settings.mentionAll == .members)
        #expect(settings.join == .open && settings.history == .join && settings.slow == 0)
        #expect(ConversationSettings.channel.write == .admins && !ConversationSettings.channel.receipts)
    }

    @Test func smallestHeadIsSmall() throws {
        let head = ChatHead(conversation: ConversationID(number: 1), kind: .pair, seq: 0, n: 0, at: 0)
        #expect(try head.json.jsonString() == #"{"conv":"0000000000001","kind":"pair","seq":0,"n":0,"at":0}"#)
        #expect(try ChatHead(json: head.json) == head)
    }

    /// The first page has 50 pinned conversations and the 30 newest ones, which are groups with
    /// titles and newest messages of the maximum length.
    @Test func firstPageOfHeadsFitsAnAnswer() throws {
        let text = String(repeating: "鸟", count: ChatLimits.previewLength), title = String(repeating: "鸟", count: ChatLimits.titleLength)
        let name = String(repeating: "鸟", count: ChatLimits.nameLength)
        let last = EventPreview(seq: 1, n: 1, sender: UserName(name), at: 1_790_000_000_000, kind: .text, text: text)
        let head = ChatHead(
            conversation: ConversationID(number: .max), kind: .group, title: title, avatar: BlobID(String(repeating: "0f", count: 32)),
            members: 10_000, membersVersion: 10_000, settings: ConversationSettings(), seq: 9_999_999, n: 9_999_999, unread: 9_999,
            at: 1_790_000_000_000, last: last)
        let count = ChatLimits.pinnedConversations + ChatLimits.newestHeads
        let token = try #require(PageToken(String(repeating: "a", count: 256)))
        let answer = SyncAnswer(heads: Array(repeating: head, count: count), page: token, token: token, badge: 1)
        #expect(try JSONWriter.bytes(of: answer.json).count <= ChatLimits.answerBytes)
    }

    @Test func byeStatesWhetherToReconnect() {
        let reasons: [ByePush.Reason: Bool] = [
            .signedOut: false, .accountClosed: false, .protocolError: false, .version: false, .shutdown: true, .slow: true, .unknown: true,
        ]
        #expect(reasons.count == ByePush.Reason.allCases.count)
        for (reason, permits) in reasons { #expect(reason.permitsReconnect == permits) }
    }

    @Test func textsOfTheWireMatchTheTypes() {
        #expect(ConversationID(number: 5).description == "0000000000005" && ConversationID(number: 1) < ConversationID(number: 2))
        #expect(DeviceID(number: 1) < DeviceID(number: 2) && DeviceID(number: 5).description == "0000000000005")
        #expect(
            ClientID("m")?.description == "m" && PageToken("t")?.description == "t" && LinkCode("k7Qm2ZtX9bVw4NsA")?.description.count == 16
        )
        #expect(LinkCode("k7Qm2ZtX9bVw4Ns!") == nil && LinkCode(String(repeating: "a", count: 65)) == nil)
        #expect(BlobID(String(repeating: "a", count: 64))?.description.count == 64)
    }
}
