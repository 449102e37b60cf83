import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

/// The smallest request of each verb: the fields that a client must send, and nothing else.
@Suite("The smallest request of each verb")
struct SmallestRequestTests {
    /// A verb with its smallest request.
    struct Smallest: Sendable, CustomTestStringConvertible {
        var name: String
        var fields: JSONObject
        /// Fields that may be absent although the smallest request has them, because another field
        /// can take their place or because an absent list is empty.
        var replaceable: Set<String>
        var refusal: @Sendable (JSONObject) -> WireError?
        var recode: @Sendable (JSONObject) throws -> JSONValue
        var testDescription: String { self.name }

        init<Request: WireObject, Answer: WireObject>(
            _ verb: ChatVerb<Request, Answer>, _ fields: JSONObject, replaceable: Set<String> = []
        ) {
            self.name = verb.name
            self.fields = fields
            self.replaceable = replaceable
            self.refusal = { Wire.refusal(Request.self, $0) }
            self.recode = { try Request(json: .object($0)).json }
        }
    }

    private static let change: JSONObject = ["id": "m", "conv": Wire.conv]
    private static let reference: JSONObject = ["id": "m", "conv": Wire.conv, "ref": 3]
    private static let users: JSONObject = ["id": "m", "conv": Wire.conv, "users": ["bob"]]
    private static let user: JSONObject = ["id": "m", "user": "bob"]
    private static let code: JSONValue = "k7Qm2ZtX9bVw4NsA"

    static let log: [Smallest] = [
        Smallest(ChatVerbs.hello, ["version": 1, "device": ["name": "d", "platform": "web"]]),
        Smallest(ChatVerbs.send, ["id": "m", "conv": Wire.conv, "kind": "text", "body": [:]]), Smallest(ChatVerbs.sync, [:]),
        Smallest(ChatVerbs.history, ["conv": Wire.conv]),
        Smallest(ChatVerbs.mark, ["conv": Wire.conv, "read": 0], replaceable: ["read"]),
        Smallest(ChatVerbs.typing, ["conv": Wire.conv]), Smallest(ChatVerbs.subscribe, ["convs": []], replaceable: ["convs"]),
        Smallest(ChatVerbs.readers, ["conv": Wire.conv, "seq": 1]), Smallest(ChatVerbs.search, ["query": "q"], replaceable: ["query"]),
    ]

    static let messages: [Smallest] = [
        Smallest(ChatVerbs.edit, ["id": "m", "conv": Wire.conv, "ref": 3, "body": [:]]), Smallest(ChatVerbs.previewRemove, Self.reference),
        Smallest(ChatVerbs.recall, Self.reference), Smallest(ChatVerbs.hide, ["id": "m", "conv": Wire.conv, "seqs": [1]]),
        Smallest(ChatVerbs.react, ["id": "m", "conv": Wire.conv, "ref": 3, "key": "a"]),
        Smallest(ChatVerbs.reactions, ["conv": Wire.conv, "ref": 3]), Smallest(ChatVerbs.pin, Self.reference),
        Smallest(ChatVerbs.vote, ["id": "m", "conv": Wire.conv, "ref": 3, "options": []], replaceable: ["options"]),
        Smallest(ChatVerbs.pollClose, Self.reference),
        Smallest(ChatVerbs.forward, ["id": "m", "conv": Wire.conv, "from": Wire.conv, "seqs": [1]]),
        Smallest(ChatVerbs.schedule, ["id": "m", "conv": Wire.conv, "kind": "text", "body": [:], "send_at": 0]),
        Smallest(ChatVerbs.scheduled, [:]), Smallest(ChatVerbs.unschedule, ["id": "m", "of": "m"]),
    ]

    static let conversations: [Smallest] = [
        Smallest(ChatVerbs.conversationOpen, Self.user),
        Smallest(ChatVerbs.conversationCreate, ["id": "m", "kind": "group", "title": "T"]),
        Smallest(ChatVerbs.conversationInfo, ["conv": Wire.conv]),
        Smallest(ChatVerbs.conversationSet, ["id": "m", "conv": Wire.conv, "title": "T"], replaceable: ["title"]),
        Smallest(ChatVerbs.conversationDelete, Self.change), Smallest(ChatVerbs.directory, [:]),
        Smallest(ChatVerbs.members, ["conv": Wire.conv]), Smallest(ChatVerbs.memberAdd, Self.users),
        Smallest(ChatVerbs.memberAnswer, ["id": "m", "conv": Wire.conv, "accept": false]),
        Smallest(ChatVerbs.memberJoin, Self.change, replaceable: ["conv"]),
        Smallest(ChatVerbs.memberApprove, ["id": "m", "conv": Wire.conv, "user": "bob", "accept": false]),
        Smallest(ChatVerbs.memberLeave, Self.change), Smallest(ChatVerbs.memberRemove, Self.users),
        Smallest(ChatVerbs.memberBan, Self.users), Smallest(ChatVerbs.memberUnban, Self.users),
        Smallest(ChatVerbs.memberRole, ["id": "m", "conv": Wire.conv, "users": ["bob"], "role": "guest"]),
        Smallest(ChatVerbs.memberMute, Self.users), Smallest(ChatVerbs.linkCreate, Self.change),
        Smallest(ChatVerbs.linkList, ["conv": Wire.conv]),
        Smallest(ChatVerbs.linkRevoke, ["id": "m", "conv": Wire.conv, "code": Self.code]),
        Smallest(ChatVerbs.linkInfo, ["code": Self.code]),
    ]

    static let people: [Smallest] = [
        Smallest(ChatVerbs.ownSet, Self.change), Smallest(ChatVerbs.draft, ["id": "m", "conv": Wire.conv, "text": ""]),
        Smallest(ChatVerbs.settings, [:]), Smallest(ChatVerbs.settingsSet, ["id": "m", "settings": [:]]),
        Smallest(ChatVerbs.profileSet, ["id": "m"]), Smallest(ChatVerbs.users, ["names": ["bob"]]),
        Smallest(ChatVerbs.people, ["query": "q"]), Smallest(ChatVerbs.contacts, [:]), Smallest(ChatVerbs.contactRequest, Self.user),
        Smallest(ChatVerbs.contactAnswer, ["id": "m", "user": "bob", "accept": false]), Smallest(ChatVerbs.contactRemove, Self.user),
        Smallest(ChatVerbs.contactAlias, ["id": "m", "user": "bob", "alias": ""]), Smallest(ChatVerbs.block, Self.user),
        Smallest(ChatVerbs.unblock, Self.user),
        Smallest(ChatVerbs.report, ["id": "m", "user": "bob", "reason": "other"], replaceable: ["user"]),
    ]

    static let devices: [Smallest] = [
        Smallest(ChatVerbs.callStart, ["id": "m", "conv": Wire.conv, "media": "audio"]),
        Smallest(ChatVerbs.callUpdate, ["id": "m", "conv": Wire.conv, "call": 1, "state": "busy"]), Smallest(ChatVerbs.callServers, [:]),
        Smallest(ChatVerbs.signal, ["conv": Wire.conv, "call": 1, "data": [:]]), Smallest(ChatVerbs.devices, [:]),
        Smallest(ChatVerbs.deviceRemove, ["id": "m", "others": true], replaceable: ["others"]),
        Smallest(ChatVerbs.pushSet, ["id": "m", "kind": "none"]),
    ]

    static let all = Self.log + Self.messages + Self.conversations + Self.people + Self.devices

    @Test func eachVerbHasASmallestRequest() {
        #expect(Self.all.map(\.name).sorted() == ChatReference.verbs.map(\.name).sorted())
    }

    @Test(arguments: all) func theSmallestRequestIsReadAndWrittenWithoutDefaults(verb: Smallest) throws {
        #expect(try verb.recode(verb.fields) == .object(verb.fields))
    }

    @Test(arguments: all) func eachOfItsFieldsIsNeeded(verb: Smallest) {
        for (name, _) in verb.fields where !verb.replaceable.contains(name) {
            for absent in [JSONValue?.none, .some(.null)] {
                var fields = verb.fields
                fields[name] = absent
                #expect(verb.refusal(fields) == WireError(.missing, field: name, rule: "is required"), "\(name)")
            }
        }
    }

    /// The id of a request and the conversation have one syntax in all verbs.
    @Test(arguments: all) func idsHaveTheirSyntax(verb: Smallest) {
        let rules: [(field: String, wrong: [JSONValue], rule: String)] = [
            ("id", ["", "a b", "é", 1, .string(String(repeating: "a", count: 65))], Rule.client),
            ("conv", ["", "7", "000000000000Z", 7, ["0000000000007"]], Rule.conversation),
            ("user", ["", "a b", ".a", 1, ["bob"]], Rule.user), ("ref", [0, -1, 0.5, "3"], Rule.seq), ("call", [0, true], Rule.seq),
        ]
        for (field, wrong, rule) in rules where verb.fields[field] != nil {
            for value in wrong {
                var fields = verb.fields
                fields[field] = value
                #expect(verb.refusal(fields) == WireError(.invalid, field: field, rule: rule), "\(field): \(value)")
            }
        }
    }

    /// The names of fields are compared by their bytes: another case is another field.
    @Test(arguments: all.filter { !$0.fields.isEmpty }) func namesOfFieldsAreExact(verb: Smallest) {
        for (name, value) in verb.fields where !verb.replaceable.contains(name) {
            for other in [name.uppercased(), " " + name, name + "\u{200B}"] {
                var fields = verb.fields
                fields[name] = nil
                fields[other] = value
                #expect(verb.refusal(fields)?.problem == .missing, "\(other)")
            }
        }
    }
}
