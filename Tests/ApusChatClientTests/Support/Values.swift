import ApusChatProtocol
import ApusJSON
import Foundation

/// Values of the tests. The user is alice, who has the conversation `room` with bob.
enum Value {
    static let alice = name("alice")
    static let bob = name("bob")
    static let room = ConversationID(number: 7)
    static let other = ConversationID(number: 8)

    static func name(_ text: String) -> UserName { UserName(prepared: text) }

    static func id(_ text: String) -> ClientID {
        guard let id = ClientID(text) else { fatalError("not an id: \(text)") }
        return id
    }

    static func token(_ text: String) -> PageToken {
        guard let token = PageToken(text) else { fatalError("not a token: \(text)") }
        return token
    }

    static func text(
        _ seq: Int64, _ text: String? = nil, n: Int64? = nil, by sender: UserName = bob, id: String? = nil,
        in conversation: ConversationID = room
    ) -> ChatEvent {
        ChatEvent(
            conversation: conversation, seq: seq, n: n ?? seq, sender: sender, id: Self.id(id ?? "m\(seq)"), at: 1_000 + seq, kind: .text,
            body: ["text": .string(text ?? "text \(seq)")])
    }

    static func change(
        _ kind: EventKind, _ seq: Int64, of ref: Int64, by sender: UserName = bob, _ body: JSONObject = [:],
        in conversation: ConversationID = room
    ) -> ChatEvent {
        ChatEvent(
            conversation: conversation, seq: seq, n: nil, sender: sender, id: nil, at: 1_000 + seq, kind: kind, ref: ref, body: body)
    }

    static func head(_ seq: Int64, kind: ConversationKind = .pair, in conversation: ConversationID = room) -> ChatHead {
        ChatHead(conversation: conversation, kind: kind, members: 2, seq: seq, n: seq, at: 1_000 + seq)
    }

    static func entry(_ id: String, _ text: String = "hello", in conversation: ConversationID = room) -> SendRequest {
        SendRequest(id: Self.id(id), conversation: conversation, kind: .text, body: ["text": .string(text)])
    }

    static func path() -> String { FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".sqlite").path }
}
