import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatServer

/// Messages and groups of apps of the legacy protocol, through a whole server.
@Suite("Apps of the legacy protocol", .timeLimit(.minutes(5)))
struct LegacyChatTests {
    private func withUsers(_ body: (LegacyUser, LegacyUser) async throws -> Void) async throws {
        try await RealServer.withLegacy { server in
            try await body(
                try await server.legacyUser("alice", from: "192.0.2.1"), try await server.legacyUser("bobby", from: "192.0.2.2"))
        }
    }

    private static func text(_ text: String) -> JSONValue { ["type": "txt", "msg": .string(text)] }

    // MARK: Messages

    @Test func aTextAndItsAcknowledgementHaveTheFieldsOfBoth() async throws {
        try await self.withUsers { alice, bobby in
            let (sender, receiver) = (try await alice.connect(), try await bobby.connect())
            let ack = try await sender.call(
                "chat",
                ["to_user": "BOBBY", "from_user": "alice", "sendtime": 5, "extra": ["kept": true], "bodies": Self.text("在吗 👩‍👩‍👧")])
            #expect(ack["to_user"] == "BOBBY" && ack["from_user"] == "alice" && ack["sendtime"] == 5 && ack["extra"] == ["kept": true])
            #expect(ack["bodies"] == Self.text("在吗 👩‍👩‍👧"))
            let received = await receiver.next("chat")
            #expect(received["msg_id"] == ack["msg_id"] && received["timestamp"] == ack["timestamp"])
            #expect(received["sendtime"] == received["timestamp"] && received["sendTime"] == received["timestamp"])
            #expect(received["from_user"] == "alice" && received["to_user"] == "bobby" && received["chat_type"] == "chat")
            #expect(received["bodies"] == Self.text("在吗 👩‍👩‍👧") && received["extra"] == nil)
            // The sender does not receive its own message.
            try await sender.settle(as: "alice")
            #expect(!sender.has("chat"))
        }
    }

    @Test func aRepetitionIsOneMessageWithTheSameAcknowledgement() async throws {
        try await self.withUsers { alice, bobby in
            let (sender, receiver) = (try await alice.connect(), try await bobby.connect())
            let first = try await sender.send("once", to: "bobby", at: 7)
            let second = try await sender.send("once", to: "bobby", at: 7)
            let later = try await sender.send("once", to: "bobby", at: 8)
            #expect(first == second && later["msg_id"] != first["msg_id"])
            try await sender.send("end", to: "bobby", at: 9)
            var received: [JSONValue?] = []
            while received.last != "end" { received.append(await receiver.next("chat")["bodies"]?["msg"]) }
            #expect(received == ["once", "once", "end"])
        }
    }

    /// The legacy protocol has no errors: a refused message has no acknowledgement, and the app can
    /// send others.
    @Test(
        arguments: [
            #"{"to_user":"nobody","bodies":{"type":"txt","msg":"a"}}"#, #"{"to_user":"a b","bodies":{"type":"txt","msg":"a"}}"#,
            #"{"to_user":"bobby","from_user":"bobby","bodies":{"type":"txt","msg":"a"}}"#, #"{"to_user":"bobby"}"#, "[]", "null", "5",
            #"{"to_user":"bobby","bodies":{"type":"img","fileRemotePath":"images/none.png"}}"#,
            #"{"to_user":"bobby","bodies":{"type":"img","fileRemotePath":"../chat.key"}}"#,
        ])
    func aRefusedMessageHasNoEffect(argument: String) async throws {
        try await self.withUsers { alice, bobby in
            let (sender, receiver) = (try await alice.connect(), try await bobby.connect())
            sender.emit("chat", try JSONValue(jsonString: argument))
            try await sender.send("valid", to: "bobby")
            #expect(await receiver.next("chat")["bodies"] == Self.text("valid"))
        }
    }

    @Test func messagesOfTheAbsenceArriveOnceAndInOrder() async throws {
        try await self.withUsers { alice, bobby in
            let sender = try await alice.connect()
            for number in 0..<25 { try await sender.send("message \(number)", to: "bobby", at: Int64(number + 1)) }
            let first = try await bobby.connect()
            for number in 0..<25 { #expect(await first.next("chat")["bodies"] == Self.text("message \(number)")) }
            // The answer to a message of the app itself follows the acknowledgements before it.
            try await first.settle(as: "bobby")
            first.close()
            await first.waitUntilClosed()
            try await sender.send("new", to: "bobby", at: 100)
            let second = try await bobby.connect()
            var received: [JSONValue?] = []
            while received.last != "new" { received.append(await second.next("chat")["bodies"]?["msg"]) }
            #expect(!received.contains("message 0") && !received.contains("message 22"))
        }
    }

    @Test func aMessageThatTheAppDidNotAcknowledgeArrivesAgain() async throws {
        try await self.withUsers { alice, bobby in
            let sender = try await alice.connect()
            try await sender.send("important", to: "bobby")
            let silent = try await bobby.connect(acknowledges: false)
            #expect(await silent.next("chat")["bodies"] == Self.text("important"))
            silent.close()
            await silent.waitUntilClosed()
            let second = try await bobby.connect()
            #expect(await second.next("chat")["bodies"] == Self.text("important"))
        }
    }

    @Test func aTextOfAnotherClientArrivesAndBack() async throws {
        try await self.withUsers { alice, bobby in
            let app = try await bobby.connect()
            let page = try await alice.ownClient()
            let opened = try await page.ask(
                ChatVerbs.conversationOpen, OpenRequest(id: id("o1"), user: UserName(prepared: "bobby")))
            let sent = try await page.ask(
                ChatVerbs.send,
                SendRequest(id: id("s1"), conversation: opened.head.conversation, kind: .text, body: ["text": "from the page"]))
            let received = await app.next("chat")
            #expect(received["msg_id"] == .string("\(opened.head.conversation)-\(sent.seq)"))
            #expect(received["bodies"] == Self.text("from the page"))
            try await app.send("from the app", to: "alice")
            let log = try await page.ask(ChatVerbs.history, HistoryRequest(conversation: opened.head.conversation, range: .newest))
            #expect(log.events.last?.body["text"] == "from the app")
        }
    }

    // MARK: Sessions

    @Test(arguments: ["", "wrong", "a.AAAA"]) func aConnectionNeedsItsToken(token: String) async throws {
        try await RealServer.withLegacy { server in
            let app = LegacyApp(port: server.running.legacy.port, token: token, address: "192.0.2.1")
            await #expect(throws: (any Error).self) { try await app.connect() }
        }
    }

    @Test func theEndOfTheSessionClosesTheConnection() async throws {
        try await self.withUsers { alice, _ in
            let app = try await alice.connect()
            try await app.settle(as: "alice")
            let page = try await alice.ownClient()
            _ = try await page.ask(ChatVerbs.deviceRemove, DeviceRemoveRequest(id: id("r1"), isOthers: true))
            await app.waitUntilClosed()
            let again = LegacyApp(port: alice.server.running.legacy.port, token: alice.token, address: alice.address)
            await #expect(throws: (any Error).self) { try await again.connect() }
        }
    }

    @Test func theOtherUsersLearnThatAUserIsOnline() async throws {
        try await self.withUsers { alice, bobby in
            let first = try await alice.connect()
            try await first.settle(as: "alice")
            let second = try await bobby.connect()
            #expect(await first.next("onLine") == ["user": "bobby"])
            try await second.settle(as: "bobby")
            let users = try await alice.server.running.legacy.get("/allUsers", RealServer.fields("192.0.2.9")).json()
            #expect(users["data"]?["onLineUsers"]?.arrayValue?.contains("bobby") == true)
        }
    }

    // MARK: Groups

    private static func message(_ text: String, _ room: String, at time: Int64 = 0) -> JSONValue {
        ["roomId": .string(room), "sendtime": .integer(time), "bodies": Self.text(text)]
    }

    @Test func aGroupIsCreatedJoinedAndLeft() async throws {
        try await self.withUsers { alice, bobby in
            let (first, second) = (try await alice.connect(), try await bobby.connect())
            #expect(try await first.call("create", ["roomId": "Team"]) == "Team")
            #expect(await first.next("GroupChat") == ["roomId": "Team"])
            // The creation and a join of a member are repeated without an effect.
            #expect(try await first.call("create", ["roomId": "Team"]) == "Team")
            #expect(try await first.call("join", ["roomId": "Team"]) == "Team")
            #expect(try await second.call("join", ["roomId": "Team"]) == "Team")
            #expect(await first.next("GroupChat") == ["roomId": "Team"])
            #expect(await second.next("GroupChat") == ["roomId": "Team"])
            let ack = try await second.call("GroupChat", Self.message("all", "Team"))
            for app in [first, second] {
                let received = await app.next("GroupChat")
                #expect(received["msg_id"] == ack["msg_id"] && received["from_user"] == "bobby" && received["to_user"] == "Team")
                #expect(received["roomId"] == "Team" && received["chat_type"] == "groupChat" && received["bodies"] == Self.text("all"))
            }
            second.emit("leave", ["roomId": "Team"])
            second.emit("GroupChat", Self.message("after", "Team"))
            try await second.settle(as: "bobby")
            _ = try await first.call("GroupChat", Self.message("last", "Team"))
            #expect(await first.next("GroupChat")["bodies"] == Self.text("last"))
            #expect(!second.has("GroupChat"))
        }
    }

    @Test func aNameIsUsedOnce() async throws {
        try await self.withUsers { alice, bobby in
            let (first, second) = (try await alice.connect(), try await bobby.connect())
            #expect(try await first.call("create", ["roomId": "Team"]) == "Team")
            second.emit("create", ["roomId": "Team"])
            try await second.settle(as: "bobby")
            #expect(!second.has("GroupChat"), "the user is not in the group of another user")
        }
    }

    /// The chat stores names without repeated spaces and in one form of Unicode. The app can use
    /// the name that its user has typed.
    @Test(
        arguments: [
            ("Team ", "Team"), (" My  Team", "My Team"), ("测试（一）", "测试(一)"), ("Ｔｅａｍ", "Team"), ("Cafe\u{301}", "Caf\u{E9}"),
            ("Family 👩‍👩‍👧", "Family 👩‍👩‍👧"),
        ])
    func aGroupIsFoundByTheNameThatWasTyped(typed: String, stored: String) async throws {
        try await self.withUsers { alice, bobby in
            let (first, second) = (try await alice.connect(), try await bobby.connect())
            let created = try #require(try await first.call("create", ["roomId": .string(typed)]).stringValue)
            #expect(created.utf8.elementsEqual(stored.utf8))
            #expect(await first.next("GroupChat") == ["roomId": .string(stored)])
            #expect(try await second.call("join", ["roomId": .string(typed)]) == .string(stored))
            _ = try await second.call("GroupChat", Self.message("hello", typed))
            var received = await first.next("GroupChat")
            while received["bodies"] == nil { received = await first.next("GroupChat") }
            #expect(received["bodies"] == Self.text("hello") && received["roomId"] == .string(stored))
        }
    }

    @Test(arguments: [#"{}"#, #"{"roomId":""}"#, #"{"roomId":5}"#, #"{"roomId":" "}"#, #"{"roomId":"a\u202eb"}"#, "null"])
    func aGroupNeedsAName(argument: String) async throws {
        try await self.withUsers { alice, _ in
            let app = try await alice.connect()
            for event in ["create", "join", "leave"] { app.emit(event, try JSONValue(jsonString: argument)) }
            try await app.settle(as: "alice")
            #expect(!app.has("GroupChat"))
            #expect(try await app.call("create", ["roomId": "Team"]) == "Team")
        }
    }

    // MARK: Files

    private static let png = Array(
        Data(base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==") ?? Data())

    @Test func aPictureIsSentWithItsBytesAndServedAtItsPath() async throws {
        try await self.withUsers { alice, bobby in
            let (sender, receiver) = (try await alice.connect(), try await bobby.connect())
            let ack = try await sender.call(
                "chat",
                [
                    "to_user": "bobby", "sendtime": 3,
                    "bodies": ["type": "img", "fileName": "../a.png", "fileData": .binary(Self.png), "size": ["width": 9, "height": 9]],
                ])
            let path = try #require(ack["bodies"]?["fileRemotePath"]?.stringValue)
            #expect(ack["bodies"]?["fileData"] == nil && path.hasPrefix("images/") && path.hasSuffix(".png"))
            let received = await receiver.next("chat")
            let bodies = received["bodies"]
            #expect(bodies?["fileRemotePath"] == .string(path) && bodies?["fileName"] == "a.png")
            #expect(bodies?["size"] == ["width": 1, "height": 1] && bodies?["fileData"]?.binaryValue?.isEmpty == false)
            // The path is secret, and needs no session.
            let served = try await alice.server.running.legacy.get("/" + path, RealServer.fields("198.51.100.1"))
            #expect(served.status == 200 && served.headers["content-type"] == "image/png")
            #expect(served.headers["content-security-policy"] == "sandbox; default-src 'none'")
            let name = String(path.dropFirst(7))
            let digit = name.dropLast(4).last == "0" ? "1" : "0"
            for wrong in ["\(name.dropLast(5))\(digit).png", name.replacing("-", with: "."), String(name.dropFirst())] {
                #expect(try await alice.server.running.legacy.get("/images/" + wrong, RealServer.fields("198.51.100.1")).status == 404)
            }
            // A message can refer to the picture that its sender may read.
            let again = try await sender.call(
                "chat", ["to_user": "bobby", "sendtime": 4, "bodies": ["type": "img", "fileName": "b", "fileRemotePath": .string(path)]])
            #expect(again["bodies"]?["fileRemotePath"] == .string(path))
        }
    }
}
