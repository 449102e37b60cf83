import ApusChatProtocol
import ApusJSON
import Testing

/// The features that a client and a server exchange, and their effects.
@Suite("Features of hello")
struct HelloFeatureTests {
    private func omitted(_ features: [String], _ capabilities: [String]) -> Set<PushFeature> {
        HelloRequest(features: features, device: HelloDevice(name: "d", platform: "web", capabilities: capabilities)).omittedPushes
    }

    /// A client that lists features receives only the pushes of these, and one that lists none
    /// receives all.
    @Test(
        arguments: [
            ([], [], []), (ChatFeature.all, [], []), (ChatFeature.all, ["call.audio"], []),
            (["typing"], [], [.calls, .presence, .receipts]),
            (["calls", "presence", "receipts", "typing"], [], []), (["later"], [], [.calls, .presence, .receipts, .typing]),
            (["Typing"], [], [.calls, .presence, .receipts, .typing]),
            // A device without a microphone rings for no call, whatever its program supports.
            ([], ["push.web"], [.calls]), (ChatFeature.all, ["push.web"], [.calls]), (ChatFeature.all, ["push.web", "call.video"], []),
            ([], ["call"], [.calls]), ([], ["Call.audio"], [.calls]), ([], ["call.later"], []),
            (["typing"], ["call.audio"], [.calls, .presence, .receipts]),
        ] as [([String], [String], Set<PushFeature>)])
    func pushesFollowTheFeatures(features: [String], capabilities: [String], omitted: Set<PushFeature>) {
        #expect(self.omitted(features, capabilities) == omitted)
    }

    @Test func eachPushFeatureIsAFeature() {
        for feature in PushFeature.allCases { #expect(ChatFeature.all.contains(feature.rawValue), "\(feature)") }
        #expect(Set(ChatFeature.all).count == ChatFeature.all.count)
    }

    // MARK: Fields

    private static let device: JSONValue = ["name": "d", "platform": "web"]

    private func problem(_ fields: JSONObject) -> WireError? {
        do throws(WireError) {
            _ = try HelloRequest(json: .object(fields))
            return nil
        } catch { return error }
    }

    @Test(
        arguments: [
            ("version", 1, true), ("version", 1_000_000, true), ("version", 0, false), ("version", 1_000_001, false),
            ("version", "1", false),
            ("frame_bytes", 1_024, true), ("frame_bytes", 1_023, false), ("frame_bytes", .integer(WireReader.largestInteger), true),
            ("frame_bytes", 0, false), ("features", .array(Array(repeating: "f", count: 100)), true),
            ("features", .array(Array(repeating: "f", count: 101)), false), ("features", [""], false),
            ("features", [.string(String(repeating: "f", count: 41))], false), ("features", "edit", false), ("epoch", "e", true),
            ("epoch", "", false), ("epoch", "a b", false), ("sync", [:], true), ("sync", "x", false), ("sync", ["since": ""], false),
            ("device", ["name": "", "platform": "web"], false), ("device", ["name": "d", "platform": ""], false),
            ("device", ["name": "d", "platform": .string(String(repeating: "p", count: 21))], false), ("device", ["name": "d"], false),
            ("device", ["name": "d", "platform": "web", "capabilities": .array(Array(repeating: "c", count: 41))], false),
        ] as [(String, JSONValue, Bool)])
    func fieldsHaveTheirLimits(field: String, value: JSONValue, isAccepted: Bool) {
        var fields: JSONObject = ["version": 1, "device": Self.device]
        fields[field] = value
        let error = self.problem(fields)
        #expect((error == nil) == isAccepted, "\(String(describing: error))")
        if let error { #expect(error.field.hasPrefix(field)) }
    }

    /// A client of a later version sends `hello` to this server, and so does an earlier one.
    @Test func anotherVersionIsRead() throws {
        let later = try HelloRequest(json: [
            "version": 9, "device": Self.device, "features": ["edit", "telepathy"], "compression": ["zstd"], "sync": ["later": true],
        ])
        #expect(later.version == 9 && later.features == ["edit", "telepathy"] && later.sync == SyncRequest(since: nil))
        let least = try HelloRequest(json: ["version": 1, "device": Self.device])
        #expect(least.features.isEmpty && least.frameBytes == nil && least.epoch == nil && least.sync == nil)
        #expect(least.json == ["version": 1, "device": Self.device])
    }

    /// The limits of a server of another version, which a client uses for its checks.
    @Test func limitsMatchTheServer() throws {
        let limits = HelloLimits()
        #expect(limits.requestBytes == Int64(ChatLimits.requestBytes) && limits.textLength == Int64(ChatLimits.textLength))
        var fields = try #require(limits.json.objectValue)
        fields["text_length"] = 12
        fields["later"] = 1
        #expect(try HelloLimits(json: .object(fields)).textLength == 12)
        for name in ["request_bytes", "text_length", "blob_bytes", "group_members", "edit_seconds", "recall_seconds"] {
            var missing = fields
            missing[name] = nil
            let error = #expect(throws: WireError.self, "\(name)") { try HelloLimits(json: .object(missing)) }
            #expect(error?.problem == .missing && error?.field == name)
            missing[name] = -1
            #expect(throws: WireError.self, "\(name)") { try HelloLimits(json: .object(missing)) }
        }
    }
}

/// The texts that identify objects, at their limits.
@Suite("Identifiers at their limits")
struct IdentifierLimitTests {
    private static let identifiers: [(name: String, right: [String], wrong: [String], parse: @Sendable (String) -> String?)] = [
        (
            "conversation", ["0000000000000", "7zzzzzzzzzzzz", "000000000000z"],
            [
                "", "000000000000", "00000000000000", "8000000000000", "zzzzzzzzzzzzz", "000000000000i", "000000000000l", "000000000000o",
                "000000000000u", "000000000000Z", " 00000000000", "-000000000001", "００００００００００００１", "0000000000\u{301}",
            ], { ConversationID($0)?.rawValue }
        ),
        ("device", ["0000000000000", "7zzzzzzzzzzzz"], ["8000000000000", "000000000000A", "1"], { DeviceID($0)?.rawValue }),
        (
            "client", ["!", "~", String(repeating: "~", count: 64), "0192f0c4-7d3e-7a10-9c55-1b2e3f405162"],
            ["", " ", "a b", "é", "\u{7F}", "\n", "a\n", String(repeating: "a", count: 65)], { ClientID($0)?.rawValue }
        ),
        (
            "blob", [String(repeating: "0", count: 64), String(repeating: "f", count: 64)],
            [
                "", String(repeating: "0", count: 63), String(repeating: "0", count: 65), String(repeating: "F", count: 64),
                String(repeating: "g", count: 64),
            ],
            { BlobID($0)?.rawValue }
        ),
        (
            "token", ["!", String(repeating: "~", count: 256)], ["", " ", "é", String(repeating: "a", count: 257)],
            { PageToken($0)?.rawValue }
        ),
        (
            "link", ["k7Qm2ZtX9bVw4NsA", "-_-_-_-_-_-_-_-_", String(repeating: "Z", count: 64)],
            [
                "", String(repeating: "a", count: 15), String(repeating: "a", count: 65), "k7Qm2ZtX9bVw4Ns+", "k7Qm2ZtX9bVw4Ns=",
                "k7Qm2ZtX9bVw4Nsé",
            ],
            { LinkCode($0)?.rawValue }
        ),
        (
            "picture", ["", String(repeating: "0f", count: 32)], [" ", "0f", String(repeating: "0F", count: 32)],
            { BlobChange(wireText: $0)?.wireText }
        ),
    ]

    @Test(arguments: identifiers.indices) func anIdentifierIsReadAsItIsOrRefused(index: Int) {
        let identifier = Self.identifiers[index]
        for text in identifier.right { #expect(identifier.parse(text) == text, "\(identifier.name) \(text)") }
        for text in identifier.wrong { #expect(identifier.parse(text) == nil, "\(identifier.name) \(text.debugDescription)") }
    }

    /// The number of an identifier is not negative, whatever number it was made of.
    @Test(arguments: [Int64.min, -1, 0, 1, .max]) func theSignOfANumberIsIgnored(number: Int64) {
        let id = ConversationID(number: number)
        #expect(id.number == number & .max && ConversationID(id.rawValue) == id && id.rawValue.utf8.count == 13)
        #expect(DeviceID(number: number).rawValue == id.rawValue)
    }

    /// The texts sort like the numbers, because lists are sorted by them in other programs.
    @Test func textsSortLikeNumbers() {
        let numbers: [Int64] = [0, 1, 9, 10, 31, 32, 33, 1_023, 1_024, 1 << 40, .max - 1, .max]
        let texts = numbers.map { ConversationID(number: $0).rawValue }
        #expect(texts == texts.sorted() && Set(texts).count == texts.count)
        for (left, right) in zip(numbers, numbers.dropFirst()) { #expect(ConversationID(number: left) < ConversationID(number: right)) }
    }

    @Test func aPictureIsSetOrRemoved() throws {
        let blob = try #require(BlobID(String(repeating: "0f", count: 32)))
        #expect(BlobChange.set(blob).blob == blob && BlobChange.remove.blob == nil)
        #expect(BlobChange(wireText: "") == .remove && BlobChange(wireText: blob.rawValue) == .set(blob))
    }
}
