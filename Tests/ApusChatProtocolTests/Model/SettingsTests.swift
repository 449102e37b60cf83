import ApusChatProtocol
import ApusJSON
import ApusSeededRandom
import Testing

/// The settings of conversations: their defaults, and changes of them in any order.
@Suite("Settings of conversations")
struct SettingsTests {
    private static let defaults: JSONObject = [
        "write": "members", "invite": "members", "manage": "admins", "pin": "admins", "mention_all": "admins", "join": "closed",
        "listed": false, "history": "all", "slow": 0, "expire": 0, "receipts": true,
    ]

    /// The values of each setting that are not its default.
    private static let others: [(field: String, values: [JSONValue])] = [
        ("write", ["admins"]), ("invite", ["admins"]), ("manage", ["members"]), ("pin", ["members"]), ("mention_all", ["members"]),
        ("join", ["approval", "open"]), ("listed", [true]), ("history", ["join"]), ("slow", [1, 3_600]), ("expire", [1, 31_536_000]),
        ("receipts", [false]),
    ]

    @Test func aGroupHasTheseDefaults() throws {
        #expect(ConversationSettings().json == .object(Self.defaults))
        #expect(try ConversationSettings(json: [:]) == ConversationSettings())
    }

    /// In a channel, the owner and the admins write and invite, and no read positions are shown.
    @Test func aChannelHasTheseDefaults() {
        var channel = Self.defaults
        (channel["write"], channel["invite"], channel["receipts"]) = ("admins", "admins", false)
        #expect(ConversationSettings.channel.json == .object(channel))
    }

    /// A setting that a server of another version omits has the default of a group.
    @Test func anAbsentSettingHasItsDefault() throws {
        for (field, values) in Self.others {
            for value in values {
                var expected = Self.defaults
                expected[field] = value
                #expect(try ConversationSettings(json: .object(JSONObject([(field, value)]))).json == .object(expected), "\(field)")
            }
        }
    }

    @Test(arguments: ["write", "invite", "manage", "pin", "mention_all", "join", "history"])
    func aSettingOfALaterVersionIsUnknown(field: String) throws {
        for name in ["later", "", "unknown", "Members"] {
            let change = try ConversationSettingsChange(json: .object(JSONObject([(field, .string(name))])))
            #expect(!change.isKnown && !change.isEmpty && change.json[field] == "unknown", "\(name)")
        }
    }

    @Test(
        arguments: [
            .invalid("slow", -1, Rule.integer(0, 3_600)), .invalid("slow", 3_601, Rule.integer(0, 3_600)),
            .invalid("slow", 0.5, Rule.integer(0, 3_600)), .invalid("expire", 31_536_001, Rule.integer(0, 31_536_000)),
            .invalid("expire", "0", Rule.integer(0, 31_536_000)), .invalid("listed", 1, Rule.bool), .invalid("receipts", "no", Rule.bool),
            .invalid("write", 1, Rule.string), .invalid("join", true, Rule.string), .invalid("history", [], Rule.string),
        ] as [Refusal])
    func aChangeNamesItsWrongField(refusal: Refusal) {
        refusal.check(ConversationSettingsChange.self, [:])
        refusal.check(ConversationSettings.self, Self.defaults)
    }

    /// A null leaves a setting unchanged, as an absent field does. A default is a value.
    @Test func aNullIsNoChange() throws {
        for (field, _) in Self.others {
            let null = try ConversationSettingsChange(json: .object(JSONObject([(field, .null)])))
            #expect(null.isEmpty && null.isKnown && null.json == [:], "\(field)")
            let value = try #require(Self.defaults[field])
            let change = try ConversationSettingsChange(json: .object(JSONObject([(field, value)])))
            #expect(!change.isEmpty && change.json[field] == value, "\(field)")
        }
    }

    /// Changes in any order, compared with a table of the newest value of each field.
    @Test func theNewestValueOfEachSettingCounts() throws {
        var generator = SplitMix64(state: 97)
        for _ in 0..<300 {
            var settings = ConversationSettings()
            var model = Self.defaults
            for _ in 0..<Int.random(in: 0..<8, using: &generator) {
                var change = JSONObject()
                for (field, values) in Self.others where Bool.random(using: &generator) {
                    let all = values + [Self.defaults[field] ?? .null]
                    change[field] = all.randomElement(using: &generator)
                    model[field] = change[field]
                }
                let read = try ConversationSettingsChange(json: .object(change))
                #expect(read.isEmpty == change.isEmpty && read.isKnown)
                settings.apply(read)
                settings.apply(read)
            }
            #expect(settings.json == .object(model))
            #expect(try ConversationSettings(json: settings.json) == settings)
        }
    }
}
