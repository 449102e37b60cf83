import ApusChatProtocol
import ApusJSON

@testable import ApusChatCore

/// Values of the client tests. The user is alice, who has the conversation `room` with bob.
enum Client {
    static let alice = name("alice")
    static let bob = name("bob")
    static let room = ConversationID(number: 7)
    static let other = ConversationID(number: 8)

    static func name(_ text: String) -> UserName {
        guard let name = UserName(text) else { fatalError("not a name: \(text)") }
        return name
    }

    static func id(_ text: String) -> ClientID {
        guard let id = ClientID(wireText: text) else { fatalError("not an id: \(text)") }
        return id
    }

    static func token(_ text: String) -> PageToken {
        guard let token = PageToken(wireText: text) else { fatalError("not a token: \(text)") }
        return token
    }

    /// Returns a text message. Its ordinal is its seq unless `n` is given.
    static func message(
        _ seq: Int64, n: Int64? = nil, by sender: UserName = bob, id: String? = nil, in conversation: ConversationID = room
    ) -> ChatEvent {
        ChatEvent(
            conversation: conversation, seq: seq, n: n ?? seq, sender: sender, id: id.map { Self.id($0) }, at: 1_000 &+ seq, kind: .text,
            body: ["text": .string("text \(seq)")])
    }

    /// Returns a message with its position, as the cursor does.
    static func placed(_ seq: Int64, asOf: Int64? = nil) -> PositionedEvent { PositionedEvent(Self.message(seq), asOf: asOf) }

    static func change(_ kind: EventKind, seq: Int64, of ref: Int64, _ body: JSONObject = [:], votes: [Int64] = []) -> ChatEvent {
        ChatEvent(
            conversation: room, seq: seq, n: nil, sender: bob, id: nil, at: 1_000 &+ seq, kind: kind, ref: ref, body: body, votes: votes)
    }

    static func head(_ seq: Int64, n: Int64? = nil, read: Int64 = 0, unread: Int64? = nil, in conversation: ConversationID = room)
        -> ChatHead
    {
        ChatHead(
            conversation: conversation, kind: .pair, seq: seq, n: n ?? seq, read: read, unread: unread ?? (n ?? seq) - read,
            at: 1_000 &+ seq
        )
    }

    static func answer(_ id: String, seq: Int64, in conversation: ConversationID = room) -> SendAnswer {
        SendAnswer(conversation: conversation, id: Self.id(id), seq: seq, n: seq, at: 1_000 &+ seq)
    }
}

extension Client {
    static let epoch = token("e1")

    static func hello(_ sync: SyncAnswer?, epoch: PageToken = epoch) -> HelloAnswer {
        HelloAnswer(
            epoch: epoch, at: 1, user: ChatUser(name: alice), device: DeviceID(number: 1), own: ConversationID(number: 1), sync: sync
        )
    }

    static func sync(_ heads: [ChatHead], gone: [ConversationID] = [], page: PageToken? = nil, token: String = "t1") -> SyncAnswer {
        SyncAnswer(heads: heads, gone: gone, page: page, token: Self.token(token))
    }

    /// Returns a core that is online and has the log of ``room`` up to `seq`.
    static func online(at seq: Int64 = 3, read: Int64 = 3) -> ClientCore {
        var core = ClientCore(user: alice)
        var restored = ClientCore.Restored()
        restored.heads = [head(seq, read: read)]
        restored.cursors = [room: seq]
        restored.epoch = epoch
        restored.token = token("t0")
        core.restore(restored)
        _ = core.connected()
        _ = core.answered(hello: hello(sync([])))
        return core
    }

    static func requests(_ actions: [ClientAction]) -> [ClientRequest] {
        actions.compactMap { if case .request(let request) = $0 { request } else { nil } }
    }

    static func changes(_ actions: [ClientAction]) -> [StoreChange] {
        actions.compactMap { if case .store(let change) = $0 { change } else { nil } }
    }
}
