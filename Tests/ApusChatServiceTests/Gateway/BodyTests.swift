import ApusChatCore
import ApusChatProtocol
import ApusChatService
import ApusJSON
import Testing

/// The bodies of hostile requests, on the way through the log to other clients.
@Suite(.timeLimit(.minutes(5)))
struct BodyTests {
    private static func nested(_ levels: Int) -> JSONValue {
        var value: JSONValue = "end"
        for _ in 1..<levels { value = [value] }
        return ["a": value]
    }

    private func send(_ id: String, to pair: ConversationID, kind: String = "x.game", _ body: JSONValue) -> JSONValue {
        ["id": .string(id), "conv": .string(pair.rawValue), "kind": .string(kind), "body": body]
    }

    private func refusal(_ verb: String, _ request: JSONValue, of peer: ChatPeer) async throws -> ChatError? {
        do {
            _ = try await peer.raw(verb, request)
            return nil
        } catch let error as ChatError { return error }
    }

    /// A body that is accepted is served as it was sent, alone and in a bundle.
    @Test func aNestedBodyIsServedOrRefused() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            let deepest = Self.nested(ChatLimits.customLevels)
            #expect(try await alice.raw("send", self.send("m1", to: pair, deepest))["seq"] != nil)
            for levels in [ChatLimits.customLevels + 1, 130, 400] {
                let error = try await self.refusal("send", self.send("d\(levels)", to: pair, Self.nested(levels)), of: alice)
                #expect(error?.code == .tooLarge && error?.field == "body", "\(levels)")
            }
            let event = try #require(try await bob.history(pair).events.last)
            #expect(JSONValue.object(event.body) == deepest)
            let forward = ForwardRequest(id: .make("f"), conversation: pair, source: pair, seqs: [event.seq], isBundle: true, title: "T")
            _ = try await bob.ask(ChatVerbs.forward, forward)
            let bundle = try #require(try await alice.history(pair).events.last)
            #expect(bundle.body["items"]?.arrayValue?.first?["body"] == deepest)
        }
    }

    /// Unknown fields of a message are not stored, however deep they are.
    @Test func unknownFieldsAreNotStored() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            let body: JSONValue = [
                "text": "hi", "later": Self.nested(300), "preview": ["url": "https://a.example"], "forwarded": ["at": 1],
            ]
            #expect(try await alice.raw("send", self.send("m1", to: pair, kind: "text", body))["seq"] != nil)
            let event = try #require(try await bob.history(pair).events.last)
            #expect(JSONValue.object(event.body) == ["text": "hi"])
        }
    }

    /// A scheduled message has the body that it will have when it is sent, and is sent.
    @Test func unknownFieldsAreNotScheduled() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            var request = self.send(
                "s1", to: pair, kind: "text", ["text": "later", "zz": Self.nested(300), "forwarded": ["at": 1, "sender": "bob"]])
            if case .object(var fields) = request {
                fields["send_at"] = .integer(fixture.now + 60_000)
                request = .object(fields)
            }
            let answer = try await alice.raw("schedule", request)
            #expect(answer["scheduled"]?["body"] == ["text": "later"])
            #expect(try await alice.raw("schedule", request) == answer, "a retry")
            let listed = try await alice.ask(ChatVerbs.scheduled, ScheduledRequest()).scheduled
            #expect(listed.map { JSONValue.object($0.body) } == [["text": "later"]])
            fixture.pass(milliseconds: 60_001)
            _ = try await fixture.service.maintain()
            let push = try await bob.next(ChatPushes.event) { $0.events.contains { $0.kind == .text } }
            #expect(push.events.last.map { JSONValue.object($0.body) } == ["text": "later"])
            #expect(try await alice.ask(ChatVerbs.scheduled, ScheduledRequest()).scheduled.isEmpty)
        }
    }

    /// A body that cannot be sent cannot be scheduled.
    @Test(
        arguments: [
            ("text", ["text": " "], .badRequest, "body.text"), ("text", [:], .badRequest, "body.text"),
            ("text", ["text": "a", "entities": [["type": "bold", "offset": 0, "length": 2]]], .badRequest, "body.entities[0].length"),
            ("call", [:], .unsupported, "kind"), ("sticker", [:], .unsupported, "kind"),
            ("bundle", ["title": "T", "items": []], .unsupported, "kind"),
            ("poll", ["question": "?", "options": ["a"]], .badRequest, "body.options"),
        ] as [(String, JSONValue, ChatError.Code, String)])
    func wrongBodiesAreNotScheduled(kind: String, body: JSONValue, code: ChatError.Code, field: String) async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let pair = try await alice.open("bob")
            guard var fields = self.send("s1", to: pair, kind: kind, body).objectValue else { return }
            let sent = try await self.refusal("send", .object(fields), of: alice)
            fields["send_at"] = .integer(fixture.now + 60_000)
            let scheduled = try await self.refusal("schedule", .object(fields), of: alice)
            #expect(sent?.code == code && sent?.field == field)
            #expect(scheduled?.code == code && scheduled?.field == field)
            #expect(try await alice.ask(ChatVerbs.scheduled, ScheduledRequest()).scheduled.isEmpty)
        }
    }
}
