import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatClient

/// The rows of a conversation: their identity, their receipts, and the content that they show.
@Suite("Messages of the client")
struct ChatMessageTests {
    @Test(
        arguments: [
            (0, 0, 0, .sent), (1, 0, 0, .sent), (1, 1, 0, .delivered), (1, 1, 1, .read), (3, 2, 2, .sent), (3, 3, 2, .delivered),
            (3, 3, 3, .read), (3, 4, 4, .read), (0, 1, 1, .sent), (3, 2, 3, .sent),
        ] as [(Int64, Int64, Int64, DeliveryState)])
    func theStateIsThatOfTheLastMember(members: Int64, delivered: Int64, read: Int64, state: DeliveryState) {
        #expect(MessageReceipts(members: members, delivered: delivered, read: read).state == state)
    }

    /// A list keeps the row when the log contains the unsent message.
    @Test func anOwnMessageKeepsItsIdentityInTheLog() {
        var event = Value.text(0, "mine", by: Value.alice, id: "m1")
        event.n = nil
        let unsent = ChatMessage(event: event, delivery: .queued)
        let logged = ChatMessage(event: Value.text(9, "mine", by: Value.alice, id: "m1"), delivery: .sent)
        #expect(unsent.id == .own(Value.id("m1")) && logged.id == unsent.id)
        #expect(unsent.seq == nil && logged.seq == 9 && unsent.isOwn && logged.isOwn)
    }

    /// Another member can use the same id for a message.
    @Test func anotherEventIsIdentifiedByItsPosition() {
        #expect(ChatMessage(event: Value.text(9, id: "m1")).id == .event(9))
        var event = Value.text(9, by: Value.alice)
        event.id = nil
        #expect(ChatMessage(event: event, delivery: .sent).id == .event(9), "an own message of an earlier session")
    }

    @Test(arguments: [
        ("text", false), ("call", false), ("pin", false), ("member.join", false), ("hidden", false), ("x.shop.order", false),
        ("future", true), ("member.future", true), ("x.", true), ("", true),
    ])
    func anUnknownKindNeedsAnUpdate(kind: String, needsUpdate: Bool) {
        var event = Value.text(1)
        event.kind = EventKind(rawValue: kind)
        #expect(ChatMessage(event: event).needsUpdate == needsUpdate)
    }

    @Test func aRowHasABodyOrAChange() {
        let message = ChatMessage(event: Value.text(1, "hello"))
        #expect(message.body == .text(TextBody(text: "hello")) && message.change == nil && message.text == "hello")
        let pin = ChatMessage(event: Value.change(.pin, 2, of: 1))
        #expect(pin.body == nil && pin.change != nil && pin.text == nil)
        var damaged = Value.text(3)
        damaged.body = ["text": 7]
        #expect(ChatMessage(event: damaged).body == nil && ChatMessage(event: damaged).text == nil)
    }

    // MARK: Spans

    @Test func theSpansOfATextHaveItsFormats() {
        var event = Value.text(1, "so bold")
        event.body["entities"] = [["type": "bold", "offset": 3, "length": 4]]
        #expect(ChatMessage(event: event).spans.map(\.text) == ["so ", "bold"])
        #expect(ChatMessage(event: event).spans.last?.kinds == [.bold])
    }

    /// The formats of a caption are not shown, and a message without a text has no spans.
    @Test func aCaptionIsOneSpan() {
        var event = Value.text(1)
        event.kind = .file
        event.body = [
            "blob": .string(String(repeating: "0f", count: 32)), "name": "a", "size": 1, "type": "text/plain", "text": "so bold",
            "entities": [["type": "bold", "offset": 3, "length": 4]],
        ]
        #expect(ChatMessage(event: event).spans == ChatTextSpan.spans(of: "so bold", entities: []))
        event.body["text"] = nil
        #expect(ChatMessage(event: event).spans.isEmpty)
        event.body["text"] = ""
        #expect(ChatMessage(event: event).spans.isEmpty)
    }

    /// The value of an inner range is that of the span; the outer one has its own elsewhere.
    @Test func aSpanHasTheValuesOfItsRanges() {
        let entities = [
            TextEntity(kind: .link, offset: 0, length: 9, url: "https://outer.example"),
            TextEntity(kind: .link, offset: 3, length: 3, url: "https://inner.example"),
            TextEntity(kind: .mention, offset: 6, length: 3, user: Value.bob),
        ]
        let spans = ChatTextSpan.spans(of: "abcdefghi", entities: entities)
        #expect(spans.map(\.text) == ["abc", "def", "ghi"])
        #expect(spans.map(\.url) == ["https://outer.example", "https://inner.example", "https://outer.example"])
        #expect(spans.map(\.user) == [nil, nil, Value.bob])
        #expect(spans.map(\.kinds) == [[.link], [.link], [.link, .mention]])
    }

    @Test(
        arguments: [
            (-1, 2), (0, 0), (0, -1), (3, 1), (Int64.max, 1), (Int64.max, Int64.max), (Int64.min, Int64.max), (0, Int64.min),
        ] as [(Int64, Int64)])
    func aRangeOutsideOfTheTextHasNoSpan(offset: Int64, length: Int64) {
        let spans = ChatTextSpan.spans(of: "abc", entities: [TextEntity(kind: .bold, offset: offset, length: length)])
        #expect(spans.map(\.text) == ["abc"] && spans.map(\.kinds) == [[]])
    }

    /// A range can begin or end inside of a character of several scalars.
    @Test func spansCutBetweenScalars() {
        let text = "e\u{301}👨‍👩‍👧\r\n"
        let spans = ChatTextSpan.spans(of: text, entities: [TextEntity(kind: .bold, offset: 1, length: 2)])
        #expect(spans.map { $0.text.unicodeScalars.count } == [1, 2, 6])
        #expect(spans.flatMap { Array($0.text.unicodeScalars) }.elementsEqual(text.unicodeScalars))
    }

    // MARK: Versions

    @Test func eachVersionHasTheBodyOfItsTime() {
        let original = MessageVersion(Value.text(1, "first"), of: .text)
        #expect(original?.seq == 1 && original?.at == 1_001 && original?.body == .text(TextBody(text: "first")))
        let edit = MessageVersion(Value.change(.edit, 5, of: 1, ["body": ["text": "second"]]), of: .text)
        #expect(edit?.seq == 5 && edit?.at == 1_005 && edit?.body == .text(TextBody(text: "second")))
    }

    @Test func aRemovedVersionHasNoBody() throws {
        var recalled = Value.text(1)
        (recalled.state, recalled.body) = (.recalled, [:])
        #expect(try #require(MessageVersion(recalled, of: .text)).body == nil)
        // The body of another kind is not one of the message.
        let edit = Value.change(.edit, 5, of: 1, ["body": ["text": 7]])
        #expect(try #require(MessageVersion(edit, of: .text)).body == nil)
    }

    @Test(arguments: [EventKind.react, .pin, .recall, .memberJoin, .hidden, EventKind(rawValue: "future")])
    func anotherEventIsNoVersion(kind: EventKind) {
        #expect(MessageVersion(Value.change(kind, 5, of: 1), of: .text) == nil)
    }

    // MARK: Hits

    private func hit(_ seq: Int64, at: Int64, in conversation: ConversationID = Value.room, _ snippet: String = "") -> ChatSearchHit {
        var event = Value.text(seq, in: conversation)
        event.at = at
        return ChatSearchHit(message: ChatMessage(event: event), snippet: snippet)
    }

    /// The hit of the server replaces the stored one. The same position in another conversation is
    /// another message.
    @Test func foundAndStoredHitsAreMergedNewestFirst() {
        let found = [self.hit(3, at: 30, "server"), self.hit(1, at: 10)]
        let stored = [self.hit(3, at: 30, "store"), self.hit(2, at: 20), self.hit(1, at: 40, in: Value.other)]
        let merged = ChatSearchHit.merged(found, stored: stored)
        #expect(merged.map(\.message.event.at) == [40, 30, 20, 10] && merged[1].snippet == "server")
        #expect(merged.map(\.id) == ["\(Value.other)/1", "\(Value.room)/3", "\(Value.room)/2", "\(Value.room)/1"])
        #expect(ChatSearchHit.merged([], stored: []).isEmpty)
    }
}
