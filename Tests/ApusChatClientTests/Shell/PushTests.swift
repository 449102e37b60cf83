import ApusChatProtocol
import ApusEventLoop
import ApusJSON
import Testing

@testable import ApusChatClient

/// The pushes of the server, as updates and in the store, and pushes that are not valid.
@Suite("Pushes", .timeLimit(.minutes(5)))
struct PushTests {
    private let server = FakeServer()

    private func with(_ body: (ChatClient, ChatConversation) async throws -> Void) async throws {
        try await self.server.withPair { client, pair in try await body(client, client.conversation(pair)) }
    }

    /// Returns the first update that `body` accepts.
    private func next<Value>(_ updates: EventStream<ChatUpdate>, _ body: (ChatUpdate) -> Value?) async throws -> Value {
        for await update in updates { if let value = body(update) { return value } }
        throw NeverTrue()
    }

    // MARK: Users

    private func presence(_ isOnline: Bool, _ lastSeen: Int64? = nil, of user: UserName = Value.bob) {
        let entry = PresencePush.Entry(user: user, isOnline: isOnline, lastSeen: lastSeen)
        self.server.push(ChatPushes.presence.name, PresencePush(users: [entry]).json)
    }

    /// A push without the time of the last visit keeps the known time.
    @Test func aPresenceIsPublishedAndKept() async throws {
        try await self.with { client, chat in
            let updates = client.updates(bufferingPolicy: .unbounded)
            for (isOnline, lastSeen, known) in [(false, 5, 5), (true, nil, 5), (false, 9, 9)] as [(Bool, Int64?, Int64?)] {
                self.presence(isOnline, lastSeen)
                let user = try await self.next(updates) { update -> ChatUser? in
                    guard case .users(let users) = update else { return nil }
                    return users.first { $0.name == Value.bob }
                }
                #expect(user.online == isOnline && user.lastSeen == known)
                #expect(await client.user(Value.bob) == user)
            }
            // The row of the list shows the presence of the other user.
            try await eventually { try await chat.head.peer?.lastSeen == 9 }
        }
    }

    @Test func aRepeatedPresenceIsNotPublished() async throws {
        try await self.with { client, _ in
            self.presence(true)
            try await eventually { await client.user(Value.bob)?.online == true }
            let updates = client.updates(bufferingPolicy: .unbounded)
            self.presence(true)
            self.presence(false, 7)
            let first = try await self.next(updates) { update -> Bool? in
                guard case .users(let users) = update else { return nil }
                return users.first { $0.name == Value.bob }?.online
            }
            #expect(first == false)
        }
    }

    @Test func aChangedProfileIsShownAsTheOtherUserOfThePair() async throws {
        try await self.with { client, chat in
            let user = ChatUser(name: Value.bob, nick: "Robert", status: "At sea")
            self.server.push(ChatPushes.user.name, UserPush(users: [user]).json)
            try await eventually { try await chat.head.peer?.nick == "Robert" }
            #expect(await client.user(Value.bob)?.status == "At sea")
            #expect(await client.title(of: Value.bob) == "Robert")
            #expect(try client.store.users().contains(user), "the profile is there after a restart")
        }
    }

    // MARK: Writing and reading

    @Test func aWriterIsPublishedUntilItStops() async throws {
        try await self.with { client, chat in
            let updates = client.updates(bufferingPolicy: .unbounded)
            for isStopped in [false, true] {
                self.server.push(
                    ChatPushes.typing.name, TypingPush(conversation: chat.id, user: Value.bob, isStopped: isStopped).json)
                let found = try await self.next(updates) { update -> ChatUpdate? in
                    if case .typing = update { update } else { nil }
                }
                #expect(found == .typing(chat.id, Value.bob, isTyping: !isStopped))
            }
        }
    }

    @Test func aReadPositionOfAnotherMemberOnlyIncreases() async throws {
        try await self.with { _, chat in
            for text in ["one", "two"] { try await chat.send(text) }
            try await eventually { try await chat.unsent.isEmpty }
            func read(_ n: Int64) {
                let mark = ReadMark(conversation: chat.id, user: Value.bob, read: n)
                self.server.push(ChatPushes.mark.name, MarkPush(marks: [mark]).json)
            }
            func states() async throws -> [DeliveryState?] { try await chat.storedMessages().messages.map(\.delivery) }
            read(2)
            try await eventually { try await states() == [.read, .read] }
            read(1)
            // A later push shows that the earlier position was handled.
            self.server.write("three", by: Value.bob, in: chat.id)
            try await eventually { try await chat.texts.count == 3 }
            #expect(try await states() == [.read, .read, nil])
        }
    }

    // MARK: Damaged pushes

    private static let payloads: [JSONValue] = [
        .null, true, 7, "x", [], [:], ["events": 1], ["events": [nil]], ["events": [["conv": "7"]]], ["heads": "x"], ["heads": [[:]]],
        ["heads": [], "gone": [1]], ["marks": [["conv": 1]]], ["users": [["name": "a b"]]], ["users": [["user": "bob", "online": 1]]],
        ["conv": "7", "user": "", "stopped": "no"], ["call": 0, "data": []], ["reason": 1], ["reason": nil],
    ]

    /// A push that is not valid is discarded, and the next one is handled.
    @Test(arguments: ["event", "head", "mark", "user", "presence", "typing", "signal", "unknown", ""])
    func aDamagedPushIsDiscarded(name: String) async throws {
        try await self.with { client, chat in
            let updates = client.updates(bufferingPolicy: .unbounded)
            for payload in Self.payloads { self.server.push(name, payload) }
            self.server.write("after", by: Value.bob, in: chat.id)
            try await eventually { try await chat.texts == ["after"] }
            #expect(await client.state == .online)
            #expect(await client.heads.contains { $0.conversation == chat.id })
            // No update closed the connection, removed a conversation or reported a failure.
            self.presence(true)
            while true {
                let update = try await self.next(updates) { $0 }
                switch update {
                case .connection, .gone, .reset, .storeFailed, .typing: Issue.record("\(name): \(update)")
                default: break
                }
                if case .users(let users) = update, users.contains(where: { $0.online == true }) { break }
            }
        }
    }

    /// The client reconnects after a reason of a later release, and without a reason.
    @Test(arguments: [["reason": "future", "retry_after": 1], [:], ["reason": nil]] as [JSONValue])
    func anUnknownReasonOfByeReconnects(bye: JSONValue) async throws {
        try await self.with { client, chat in
            let updates = client.updates(bufferingPolicy: .unbounded)
            self.server.push(ChatPushes.bye.name, bye)
            let state = try await self.next(updates) { update -> ChatConnectionState? in
                if case .connection(let state) = update { state } else { nil }
            }
            #expect(state == .connecting)
            try await client.isOnline()
            self.server.write("after", by: Value.bob, in: chat.id)
            try await eventually { try await chat.texts == ["after"] }
        }
    }

    @Test(
        arguments: [
            (.signedOut, .unauthorized), (.accountClosed, .unauthorized), (.protocolError, .unauthorized), (.version, .unsupported),
        ] as [(ByePush.Reason, ChatError.Code)])
    func aFinalByeEndsTheSessionWithItsReason(reason: ByePush.Reason, code: ChatError.Code) async throws {
        try await self.with { client, _ in
            self.server.push(ChatPushes.bye.name, ByePush(reason: reason).json)
            try await eventually { if case .signedOut = await client.state { true } else { false } }
            guard case .signedOut(let error) = await client.state else { throw NeverTrue() }
            #expect(error.code == code && !error.message.isEmpty)
            let hellos = self.server.count(of: "hello")
            for _ in 0..<200 { await Task.yield() }
            #expect(self.server.count(of: "hello") == hellos, "it does not reconnect")
        }
    }
}
