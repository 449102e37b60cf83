import ApusChatProtocol
import ApusJSON
import Testing

/// The errors of the requests for calls, devices and notifications.
@Suite("Refused requests for calls and devices")
struct CallRefusalTests {
    private static let start: JSONObject = ["id": "m", "conv": Wire.conv, "media": "audio"]
    private static let media = Rule.oneOf("audio", "video")

    @Test(
        arguments: [
            .missing("media"), .invalid("media", "screen", media), .invalid("media", "unknown", media), .invalid("media", "", media),
            .invalid("media", 1, Rule.string), .invalid("backends", "livekit", Rule.array),
            .invalid("backends", [""], at: "backends[0]", Rule.filled),
            .invalid("backends", ["livekit", nil], at: "backends[1]", Rule.string),
            .tooLarge("backends", ["livekit", Wire.text(41)], at: "backends[1]", Rule.scalars(40)),
            .tooLarge("backends", Wire.list("livekit", 11), Rule.elements(10)),
        ] as [Refusal])
    func aStartNamesItsWrongField(refusal: Refusal) { refusal.check(CallStartRequest.self, Self.start) }

    @Test func aStartAcceptsTenBackends() throws {
        let most = Wire.list(Wire.text(40), 10)
        #expect(try Wire.rewritten(CallStartRequest.self, Self.start, "backends", most) == most)
    }

    private static let update: JSONObject = ["id": "m", "conv": Wire.conv, "call": 4, "state": "accepted"]
    private static let settable = "must be `accepted`, `declined`, `busy` or `ended`"
    private static let states = Rule.oneOf("ringing", "accepted", "ended", "missed", "declined", "busy")

    /// The server alone sets the other states.
    @Test(
        arguments: [
            .missing("call"), .missing("state"), .invalid("state", "ringing", settable), .invalid("state", "missed", settable),
            .invalid("state", "later", states), .invalid("state", "unknown", states), .invalid("state", 1, Rule.string),
            .invalid("call", 0, Rule.seq), .invalid("call", "4", Rule.seq), .invalid("call", 9_007_199_254_740_992, Rule.seq),
        ] as [Refusal])
    func anUpdateNamesItsWrongField(refusal: Refusal) { refusal.check(CallUpdateRequest.self, Self.update) }

    private static let signal: JSONObject = ["conv": Wire.conv, "call": 4, "to": "bob", "device": "0000000000005", "data": ["sdp": "x"]]

    @Test(
        arguments: [
            .missing("call"), .missing("data"), .invalid("data", "x", Rule.object), .invalid("data", [["sdp": "x"]], Rule.object),
            .invalid("to", "a b", Rule.user), .invalid("to", ["bob"], Rule.user), .invalid("device", "5", Rule.device),
            .invalid("device", 5, Rule.device), .invalid("call", 0, Rule.seq),
        ] as [Refusal])
    func aSignalNamesItsWrongField(refusal: Refusal) { refusal.check(SignalRequest.self, Self.signal) }

    /// The server forwards the data of a signal as it is, with names and values that it does not
    /// know.
    @Test(
        arguments: [
            [:], ["": nil], ["a": [1, 2.5, nil, ["b": [:]]]], ["sdp": "v=0\r\n", "e\u{301}": 1, "\u{E9}": 2], ["conv": 1, "call": "x"],
        ] as [JSONObject])
    func theDataOfASignalIsKept(data: JSONObject) throws {
        let request = try SignalRequest(json: ["conv": Wire.conv, "call": 4, "data": .object(data)])
        #expect(request.data == data && request.recipient == nil && request.device == nil)
        let push = SignalPush(conversation: Wire.room, call: 4, sender: Wire.bob, device: Wire.device, data: request.data)
        #expect(try SignalPush(json: JSONReader.read(try push.json.jsonString())) == push)
    }

    // MARK: Answers of calls

    @Test(
        arguments: [
            .missing("expires_at"), .invalid("servers", "x", Rule.array), .invalid("servers", ["stun:a"], at: "servers[0]", Rule.object),
            .missing("servers", [["username": "u"]], at: "servers[0].urls"),
            .invalid("servers", [["urls": []]], at: "servers[0].urls", Rule.filled),
            .invalid("servers", [["urls": ["stun:a", ""]]], at: "servers[0].urls[1]", Rule.filled),
            .tooLarge("servers", [["urls": [Wire.text(501)]]], at: "servers[0].urls[0]", Rule.scalars(500)),
            .tooLarge("servers", [["urls": Wire.list("stun:a", 11)]], at: "servers[0].urls", Rule.elements(10)),
            .invalid("servers", [["urls": ["a"]], ["urls": ["b"], "username": ""]], at: "servers[1].username", Rule.filled),
            .invalid("servers", [["urls": ["a"], "credential": 1]], at: "servers[0].credential", Rule.string),
            .tooLarge("servers", Wire.list(["urls": ["stun:a"]], 21), Rule.elements(20)), .invalid("expires_at", -1, Rule.count),
            .invalid("relay_only", 1, Rule.bool),
        ] as [Refusal])
    func theServersOfCallsNameTheirWrongField(refusal: Refusal) {
        refusal.check(CallServersAnswer.self, ["servers": [], "expires_at": 7])
    }

    private static let answer: JSONObject = [
        "conv": Wire.conv, "call": 4, "at": 5, "access": ["backend": "livekit", "url": "wss://a.test", "token": "t"],
    ]

    @Test(
        arguments: [
            .missing("call"), .missing("at"), .invalid("access", "t", Rule.object),
            .missing("access", ["url": "u", "token": "t"], at: "access.backend"),
            .missing("access", ["backend": "b", "token": "t"], at: "access.url"),
            .missing("access", ["backend": "b", "url": "u"], at: "access.token"),
            .tooLarge("access", ["backend": Wire.text(41), "url": "u", "token": "t"], at: "access.backend", Rule.scalars(40)),
            .tooLarge("access", ["backend": "b", "url": Wire.text(501), "token": "t"], at: "access.url", Rule.scalars(500)),
            .tooLarge("access", ["backend": "b", "url": "u", "token": Wire.text(4_001)], at: "access.token", Rule.scalars(4_000)),
            .invalid("access", ["backend": "b", "url": "u", "token": ""], at: "access.token", Rule.filled),
        ] as [Refusal])
    func theAnswerToAStartNamesItsWrongField(refusal: Refusal) { refusal.check(CallAnswer.self, Self.answer) }

    // MARK: Devices

    @Test(
        arguments: [
            ([:], false), (["others": false], false), (["device": "0000000000005", "others": true], false),
            (["device": "0000000000005"], true), (["device": "0000000000005", "others": false], true), (["others": true], true),
            (["device": nil, "others": true], true),
        ] as [(JSONObject, Bool)])
    func oneDeviceOrAllOthersAreRemoved(fields: JSONObject, isRead: Bool) {
        var request = fields
        request["id"] = "m"
        let error = WireError(.invalid, field: "device", rule: "or `others` is required, but not both")
        #expect(Wire.refusal(DeviceRemoveRequest.self, request) == (isRead ? nil : error))
    }

    @Test(arguments: [.invalid("device", "000000000000i", Rule.device), .invalid("others", "all", Rule.bool)] as [Refusal])
    func aRemovalNamesItsWrongField(refusal: Refusal) {
        refusal.check(DeviceRemoveRequest.self, ["id": "m", refusal.field == "device" ? "others" : "device": Self.other(refusal.field)])
    }

    private static func other(_ field: String) -> JSONValue { field == "device" ? true : "0000000000005" }

    private static let services = Rule.oneOf("web", "apns", "fcm", "none")

    @Test(
        arguments: [
            .missing("kind"), .invalid("kind", "email", services), .invalid("kind", "unknown", services), .invalid("kind", 1, Rule.string),
            .invalid("data", "token", Rule.object), .invalid("data", [], Rule.object),
        ] as [Refusal])
    func aSubscriptionForNotificationsNamesItsWrongField(refusal: Refusal) {
        refusal.check(PushSetRequest.self, ["id": "m", "kind": "web"])
    }
}
