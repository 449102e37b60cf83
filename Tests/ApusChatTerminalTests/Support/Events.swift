import ApusChatClient
import ApusChatProtocol
import ApusJSON

/// Events and messages of the tests. The user is alice, and bob is the sender by default.
enum Sample {
    static let alice = UserName(prepared: "alice")
    static let blob: JSONValue = .string(String(repeating: "0f", count: 32))

    static func event(
        _ kind: String, _ body: JSONObject = [:], seq: Int64 = 7, ref: Int64? = nil, state: EventState = .normal, by sender: String? = "bob"
    ) -> ChatEvent {
        let kind = EventKind(rawValue: kind)
        return ChatEvent(
            conversation: ConversationID(number: 7), seq: seq, n: kind.isMessage ? seq : nil, sender: sender.map { UserName(prepared: $0) },
            id: ClientID("m\(seq)"), at: 1_795_519_800_000, kind: kind, ref: ref, state: state, body: body)
    }

    static func message(
        _ kind: String, _ body: JSONObject = [:], ref: Int64? = nil, state: EventState = .normal, delivery: DeliveryState? = nil
    ) -> ChatMessage {
        ChatMessage(event: self.event(kind, body, ref: ref, state: state), delivery: delivery)
    }

    /// A body of each kind of message.
    static let bodies: [(kind: String, body: JSONObject)] = [
        ("text", ["text": "hello"]),
        ("image", ["blob": Self.blob, "width": 40, "height": 30, "size": 5_000, "type": "image/png", "name": "cat.png", "text": "a cat"]),
        ("audio", ["blob": Self.blob, "size": 5_000, "type": "audio/ogg", "duration": 12_345, "voice": true]),
        (
            "video",
            ["blob": Self.blob, "width": 4, "height": 3, "size": 20_000_000, "type": "video/mp4", "duration": 1, "name": "film.mp4"]
        ),
        ("file", ["blob": Self.blob, "name": "plan.pdf", "size": 12, "type": "application/pdf", "text": "for you"]),
        ("location", ["latitude": 48.5, "longitude": 2.25, "name": "Paris"]), ("card", ["user": "carol"]),
        ("call", ["media": "video", "state": "missed"]), ("poll", ["question": "When?", "options": ["Mon", "Tue"]]),
        ("bundle", ["title": "Plans", "items": [["at": 1, "sender": "bob", "kind": "text", "body": ["text": "At six"]]]]),
        ("encrypted", ["epoch": 1, "data": "AAAA"]), ("x.game", ["text": "e4"]),
    ]
}
