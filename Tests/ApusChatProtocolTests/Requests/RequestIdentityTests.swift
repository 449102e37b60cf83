import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

/// The identity of every changing request (docs/chat-model.md, 1): a retry has it, and a
/// request with one other field does not.
@Suite("Identity of every changing request")
struct RequestIdentityTests {
    /// A changing verb with the bytes that identify its requests.
    struct Changing: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: @Sendable (JSONValue) throws -> [UInt8]
        var testDescription: String { self.name }

        init<Request: WireObject, Answer: WireObject>(_ verb: ChatVerb<Request, Answer>) {
            self.name = verb.name
            self.bytes = { value in try verb.hashedBytes(of: try Request(json: value)) }
        }

        init(send verb: ChatVerb<SendRequest, SendAnswer>) {
            self.name = verb.name
            self.bytes = { value in try SendRequest(json: value).hashedBytes() }
        }
    }

    static let verbs: [Changing] = [
        Changing(send: ChatVerbs.send), Changing(ChatVerbs.edit), Changing(ChatVerbs.previewRemove), Changing(ChatVerbs.recall),
        Changing(ChatVerbs.hide), Changing(ChatVerbs.react), Changing(ChatVerbs.pin), Changing(ChatVerbs.vote),
        Changing(ChatVerbs.pollClose), Changing(ChatVerbs.forward), Changing(ChatVerbs.schedule), Changing(ChatVerbs.unschedule),
        Changing(ChatVerbs.conversationOpen), Changing(ChatVerbs.conversationCreate), Changing(ChatVerbs.conversationSet),
        Changing(ChatVerbs.conversationDelete), Changing(ChatVerbs.memberAdd), Changing(ChatVerbs.memberAnswer),
        Changing(ChatVerbs.memberJoin), Changing(ChatVerbs.memberApprove), Changing(ChatVerbs.memberLeave),
        Changing(ChatVerbs.memberRemove), Changing(ChatVerbs.memberBan), Changing(ChatVerbs.memberUnban),
        Changing(ChatVerbs.memberRole), Changing(ChatVerbs.memberMute), Changing(ChatVerbs.linkCreate), Changing(ChatVerbs.linkRevoke),
        Changing(ChatVerbs.ownSet), Changing(ChatVerbs.draft), Changing(ChatVerbs.settingsSet), Changing(ChatVerbs.profileSet),
        Changing(ChatVerbs.contactRequest), Changing(ChatVerbs.contactAnswer), Changing(ChatVerbs.contactRemove),
        Changing(ChatVerbs.contactAlias), Changing(ChatVerbs.block), Changing(ChatVerbs.unblock), Changing(ChatVerbs.report),
        Changing(ChatVerbs.callStart), Changing(ChatVerbs.callUpdate), Changing(ChatVerbs.deviceRemove), Changing(ChatVerbs.pushSet),
    ]

    private static func described(_ name: String) throws -> (fields: [Field], example: JSONObject) {
        let verb = try #require(ChatReference.verbs.first { $0.name == name })
        return (verb.request, try #require(try JSONReader.read(verb.examples.request).objectValue))
    }

    @Test func theTableHasEveryChangingVerb() {
        #expect(Set(Self.verbs.map(\.name)) == Set(ChatReference.verbs.filter(\.isChanging).map(\.name)))
    }

    @Test(arguments: verbs)
    func aRetryHasTheSameIdentity(verb: Changing) throws {
        let (_, example) = try Self.described(verb.name)
        let bytes = try verb.bytes(.object(example))
        #expect(bytes.first == SendRequest.hashVersion && bytes.count > 2)
        var retry = example
        retry["id"] = "another-id"
        #expect(try verb.bytes(.object(retry)) == bytes)
        // A client of a later version, and one that writes nulls for absent fields.
        retry["zz_later"] = ["a": 1]
        for field in try Self.described(verb.name).fields where retry[field.name] == nil { retry[field.name] = .null }
        #expect(try verb.bytes(.object(retry)) == bytes)
        let reversed = JSONObject(example.map { ($0.key, $0.value) }.reversed())
        #expect(try verb.bytes(.object(reversed)) == bytes)
        // The text of the JSON does not matter, but its values do.
        let text = try JSONValue.object(example).jsonString().replacing(":", with: " : ")
        if let spaced = try? JSONReader.read(text), spaced == .object(example) { #expect(try verb.bytes(spaced) == bytes) }
    }

    /// Every field but the id is part of the identity, except `silent` of `send`, which is not part
    /// of a message.
    @Test(arguments: verbs)
    func anotherValueOfAFieldIsAnotherRequest(verb: Changing) throws {
        let (fields, example) = try Self.described(verb.name)
        let bytes = try verb.bytes(.object(example))
        for field in fields where field.name != "id" {
            var changed = example
            if let present = example[field.name], let other = Self.other(present, field.type) {
                changed[field.name] = other
            } else if example[field.name] == nil {
                changed[field.name] = Samples.valid(field.type)
            }
            // A value that excludes one of the example is not accepted beside it.
            guard changed[field.name] != example[field.name], let other = try? verb.bytes(.object(changed)) else { continue }
            let isOmitted = verb.name == "send" && field.name == "silent"
            #expect((other == bytes) == isOmitted, "\(verb.name).\(field.name)")
        }
    }

    /// Returns another valid value of a type; nil if the type has only one.
    private static func other(_ value: JSONValue, _ type: FieldType) -> JSONValue? {
        switch type {
        case .string: .string((value.stringValue ?? "") == "q" ? "r" : "q")
        case .user: value == "zoe" ? "yan" : "zoe"
        case .conversation, .device: value == "0000000000009" ? "000000000000a" : "0000000000009"
        case .client, .token: "another"
        case .blob, .blobOrEmpty: .string(String(repeating: "c3", count: 32))
        case .link: "AAAAAAAAAAAAAAAA"
        case .kind: value == "x.other" ? "x.more" : "x.other"
        case .integer(let range): .integer(value.intValue.map(Int64.init) == range.lowerBound ? range.lowerBound + 1 : range.lowerBound)
        case .number: 0.25
        case .time: value == 1_800_000_000_000 ? 1_800_000_000_001 : 1_800_000_000_000
        case .bool: value == true ? false : true
        case .any: ["text": "quite another"]
        case .choice(let values): values.first { .string($0) != value }.map { .string($0) }
        case .shape: nil
        case .list(let element, _): value.arrayValue?.first.flatMap { self.other($0, element) }.map { [$0] }
        }
    }

    /// Two verbs never share an identity, also if their fields are the same.
    @Test func theVerbIsPartOfTheIdentity() throws {
        var seen: [[UInt8]: String] = [:]
        for verb in Self.verbs {
            // Fields of all verbs, so that the requests differ as little as possible.
            let all: JSONValue = [
                "id": "a", "conv": "0000000000001", "ref": 3, "user": "bob", "users": ["bob"], "seqs": [3], "link": "k7Qm2ZtX9bVw4NsA",
                "code": "k7Qm2ZtX9bVw4NsA", "body": ["text": "x"], "kind": "text", "accept": true, "of": "b", "text": "x", "settings": [:],
            ]
            guard let bytes = try? verb.bytes(all) else { continue }
            #expect(seen[bytes] == nil, "\(verb.name) and \(seen[bytes] ?? "")")
            seen[bytes] = verb.name
        }
        #expect(seen.count > 15)
    }

    /// An absent value and one that stands for it are the same request (a retry of a client that
    /// writes all fields), and a list keeps its order.
    @Test func defaultsAndOrders() throws {
        func same(_ name: String, _ first: JSONValue, _ second: JSONValue) throws -> Bool {
            let verb = try #require(Self.verbs.first { $0.name == name })
            return try verb.bytes(first) == verb.bytes(second)
        }
        let pin: JSONValue = ["id": "a", "conv": "0000000000001", "ref": 3]
        #expect(try same("pin", pin, ["id": "a", "conv": "0000000000001", "ref": 3, "remove": false]))
        #expect(try !same("pin", pin, ["id": "a", "conv": "0000000000001", "ref": 3, "remove": true]))
        let vote: (JSONValue) -> JSONValue = { ["id": "a", "conv": "0000000000001", "ref": 3, "options": $0] }
        #expect(try !same("vote", vote([0, 1]), vote([1, 0])))
        #expect(try same("vote", vote([0, 1]), vote([0, 1.0])))
        let add: (JSONValue) -> JSONValue = { ["id": "a", "conv": "0000000000001", "users": $0] }
        #expect(try same("member.add", add(["Bob"]), add(["bob"])), "one user has one form")
        #expect(try !same("member.add", add(["bob", "carol"]), add(["carol", "bob"])))
        #expect(try !same("member.remove", add(["bob"]), add(["bobby"])))
        let own: (JSONValue?) -> JSONValue = { value in
            var fields: JSONObject = ["id": "a", "conv": "0000000000001"]
            fields["pinned"] = value
            return .object(fields)
        }
        #expect(try !same("own.set", own(nil), own(false)), "no change and an unpinned conversation")
        #expect(try !same("own.set", own(true), own(false)))
    }
}
