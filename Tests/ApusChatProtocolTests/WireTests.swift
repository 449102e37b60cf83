import ApusChatProtocol
import ApusJSON
import Testing

@Suite("Chat wire types")
struct WireTests {
    private let conv = ConversationID("c1")
    private let user = UserID("u1")
    private let id = ClientID("m1")

    @Test(arguments: [
        ("alice", true), ("abc", false), ("abcd", true), ("abcdefghijklmno", true), ("abcdefghijklmnop", false), ("_abc", false),
        ("abc_", false), ("a_bc", true), ("al ice", false), ("älice", false),
    ])
    func userNameFollowsTheRule(name: String, accepted: Bool) {
        #expect((UserName(name) != nil) == accepted)
    }

    @Test(arguments: [
        ("", false), ("x", true), (String(repeating: "x", count: 64), true), (String(repeating: "x", count: 65), false),
        (String(repeating: "鸟", count: 64), true), ("a\u{0}b", false), ("a\n", false), ("a\u{7F}", false), ("a\u{85}", false),
    ])
    func clientIDIsOneToSixtyFourCharacters(text: String, accepted: Bool) {
        #expect((ClientID(text) != nil) == accepted)
    }

    @Test(arguments: ["seq", "n", "read", "unread", "min_seq"])
    func headWithANumberBelowZeroIsRefused(field: String) throws {
        let zero = JSONValue.integer(0)
        var fields: JSONObject = [
            "conv": "c1", "kind": "pair", "members": [], "seq": zero, "n": zero, "read": zero, "unread": zero, "min_seq": zero,
            "updated_at": 1,
        ]
        #expect(try JSONValueDecoder().decode(ChatHead.self, from: .object(fields)).seq == 0)
        for number: Int64 in [-1, .min] {
            fields[field] = .integer(number)
            #expect(throws: DecodingError.self) { try JSONValueDecoder().decode(ChatHead.self, from: .object(fields)) }
        }
    }

    @Test(arguments: [Int64(-1), .min])
    func everyOtherCountBelowZeroIsRefused(number: Int64) {
        let number = JSONValue.integer(number)
        func refuses<T: Decodable>(_ type: T.Type, _ value: JSONValue) -> Bool {
            (try? JSONValueDecoder().decode(type, from: value)) == nil
        }
        func event(seq: JSONValue, n: JSONValue) -> JSONValue {
            ["conv": "c1", "seq": seq, "n": n, "sender": "u1", "id": "m1", "at": 1, "kind": "text", "body": ["text": "x"]]
        }
        #expect(!refuses(ChatEvent.self, event(seq: 1, n: 1)) && !refuses(ChatEvent.self, event(seq: 1, n: .null)))
        #expect(refuses(ChatEvent.self, event(seq: number, n: 1)))
        #expect(refuses(ChatEvent.self, event(seq: 1, n: number)))
        #expect(!refuses(ChatMark.self, ["conv": "c1", "user": "u1", "read": 0]))
        #expect(refuses(ChatMark.self, ["conv": "c1", "user": "u1", "read": number]))
        #expect(!refuses(ChatMember.self, ["user": "u1", "role": "member", "read": 0]))
        #expect(refuses(ChatMember.self, ["user": "u1", "role": "member", "read": number]))
        #expect(refuses(SendReply.self, ["conv": "c1", "id": "m1", "seq": number, "n": 1, "at": 1]))
        #expect(refuses(SendReply.self, ["conv": "c1", "id": "m1", "seq": 1, "n": number, "at": 1]))
        #expect(refuses(MarkReply.self, ["conv": "c1", "read": number, "unread": 0]))
        #expect(refuses(MarkReply.self, ["conv": "c1", "read": 0, "unread": number]))
        #expect(!refuses(HeadsReply.self, ["heads": [], "at": 0]))
        #expect(refuses(HeadsReply.self, ["heads": [], "at": number]))
    }

    @Test func blobIDIsLowercaseHex() {
        #expect(BlobID(String(repeating: "a0", count: 32)) != nil)
        #expect(BlobID(String(repeating: "A0", count: 32)) == nil)
        #expect(BlobID("../../etc/passwd") == nil)
    }

    @Test func changeHasNullOrdinal() throws {
        let event = ChatEvent(
            conv: try #require(self.conv), seq: 1, n: nil, sender: try #require(self.user), id: try #require(self.id), at: 5,
            kind: .memberJoin,
            body: ["users": ["u1"]])
        let value = try JSONValueEncoder().encode(event)
        #expect(value["n"] == .null)
        #expect(value["ref"] == nil)
        #expect(try JSONValueDecoder().decode(ChatEvent.self, from: value) == event)
    }

    @Test func headRoundTripsWithSnakeCase() throws {
        let head = ChatHead(
            conv: try #require(self.conv), kind: .group, title: "T",
            members: [ChatMember(user: try #require(self.user), role: .owner, read: 3)], seq: 4, n: 3,
            read: 3, unread: 0, minSeq: 1, updatedAt: 9, last: nil)
        let value = try JSONValueEncoder().encode(head)
        #expect(value["min_seq"] == .integer(1))
        #expect(value["updated_at"] == .integer(9))
        #expect(value["last"] == .null)
        #expect(try JSONValueDecoder().decode(ChatHead.self, from: value) == head)
    }

    @Test func errorIsAnObjectInAnObject() throws {
        let value = try JSONValueEncoder().encode(ChatError(.conflict, message: "no"))
        #expect(value == ["error": ["code": "conflict", "message": "no"]])
        #expect(try JSONValueDecoder().decode(ChatError.self, from: value).code == .conflict)
    }

    @Test func syncIsDistinguishedByItsFields() throws {
        func read(_ value: JSONValue) throws -> SyncRequest { try JSONValueDecoder().decode(SyncRequest.self, from: value) }
        let conv = try #require(self.conv)
        #expect(try read([:]) == .heads(since: nil))
        #expect(try read(["since": 7]) == .heads(since: 7))
        #expect(try read(["since": 7, "page": "7:c"]) == .heads(since: 7, page: "7:c"))
        #expect(throws: (any Error).self) { try read(["page": .string(String(repeating: "x", count: 129))]) }
        #expect(throws: (any Error).self) {
            try JSONValueDecoder().decode(HelloRequest.self, from: ["page": .string(String(repeating: "x", count: 129))])
        }
        #expect(try read(["conv": "c1", "from": 3, "limit": 10]) == .forward(conv: conv, from: 3, limit: 10))
        #expect(try read(["conv": "c1", "before": 3, "limit": 1000]) == .backward(conv: conv, before: 3, limit: 200))
        #expect(try read(["conv": "c1"]) == .backward(conv: conv, before: nil, limit: 200))
        #expect(throws: (any Error).self) { try read(["conv": "c1", "from": 3, "limit": 0]) }
        #expect(throws: (any Error).self) { try read(["conv": "c1", "from": 3, "before": 4]) }
        #expect(throws: (any Error).self) { try read(["conv": "../x", "from": 3]) }
    }

    @Test func textIsJudged() throws {
        let longest = String(repeating: "鸟", count: 8_000)
        #expect(try ChatBody(kind: .text, body: ["text": .string(longest)]) == .text(ChatTextBody(text: longest)))
        #expect(throws: ChatError.self) { try ChatBody(kind: .text, body: ["text": .string(longest + "x")]) }
        #expect(throws: ChatError.self) { try ChatBody(kind: .text, body: ["text": ""]) }
        #expect(throws: ChatError.self) { try ChatBody(kind: .text, body: ["text": 5]) }
        #expect(throws: ChatError.self) { try ChatBody(kind: .text, body: "x") }
        #expect(throws: ChatError.self) { try ChatBody(kind: .memberJoin, body: [:]) }
        // Unknown fields are removed, because they are not validated.
        #expect(try ChatBody(kind: .text, body: ["text": "a", "evil": "b"]).value == ["text": "a"])
    }

    @Test func imageIsJudged() throws {
        let blob = JSONValue.string(String(repeating: "0", count: 64))
        let right: JSONValue = ["blob": blob, "width": 2, "height": 3, "size": 4, "type": "image/png", "text": "x"]
        #expect(try ChatBody(kind: .image, body: right).value == right)
        #expect(throws: ChatError.self) {
            try ChatBody(kind: .image, body: ["blob": "zz", "width": 2, "height": 3, "size": 4, "type": "image/png"])
        }
        #expect(throws: ChatError.self) {
            try ChatBody(kind: .image, body: ["blob": blob, "width": -2, "height": 3, "size": 4, "type": "image/png"])
        }
    }
}
