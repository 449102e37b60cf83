import ApusChatProtocol
import ApusJSON
import Testing

/// The fields of the requests for calls, and of their answers.
@Suite struct CallFieldsTests {
    private let access = CallAccess(backend: "livekit", url: "wss://media.test", token: "t")
    private let accessJSON: JSONValue = ["backend": "livekit", "url": "wss://media.test", "token": "t"]

    @Test(arguments: [(CallMedia.audio, "audio"), (.video, "video")])
    func aCallIsStarted(media: CallMedia, text: String) throws {
        try Wire.check(
            CallStartRequest(id: try Wire.id("m"), conversation: Wire.room, media: media, backends: ["livekit", "other"]),
            ["id": "m", "conv": Wire.conv, "media": .string(text), "backends": ["livekit", "other"]])
        try Wire.check(
            CallAnswer(conversation: Wire.room, call: 4, at: 5, access: self.access),
            ["conv": Wire.conv, "call": 4, "at": 5, "access": self.accessJSON])
        try Wire.check(CallAnswer(conversation: Wire.room, call: 4, at: 5), ["conv": Wire.conv, "call": 4, "at": 5])
    }

    @Test(arguments: [
        (CallState.accepted, "accepted"), (.ended, "ended"), (.declined, "declined"), (.busy, "busy"),
    ])
    func aCallIsUpdated(state: CallState, text: String) throws {
        try Wire.check(
            CallUpdateRequest(id: try Wire.id("m"), conversation: Wire.room, call: 4, state: state),
            ["id": "m", "conv": Wire.conv, "call": 4, "state": .string(text)])
    }

    /// The answer contains the fields of the change beside the access.
    @Test func anAcceptedCallHasItsAccess() throws {
        let change = ChangeAnswer(conversation: Wire.room, id: try Wire.id("m"), seq: 9, at: 8)
        try Wire.check(
            CallUpdateAnswer(change, access: self.access),
            ["conv": Wire.conv, "id": "m", "seq": 9, "at": 8, "access": self.accessJSON])
        try Wire.check(CallUpdateAnswer(change), ["conv": Wire.conv, "id": "m", "seq": 9, "at": 8])
    }

    @Test func serversOfCalls() throws {
        try Wire.check(
            CallServersAnswer(
                servers: [
                    CallServer(urls: ["turn:a.test:3478", "turns:a.test:5349"], username: "u", credential: "c"),
                    CallServer(urls: ["stun:b.test"]),
                ], expiresAt: 7, isRelayOnly: true),
            [
                "servers": [
                    ["urls": ["turn:a.test:3478", "turns:a.test:5349"], "username": "u", "credential": "c"], ["urls": ["stun:b.test"]],
                ], "expires_at": 7, "relay_only": true,
            ])
    }

    @Test func signalsNameTheirEnds() throws {
        try Wire.check(
            SignalRequest(conversation: Wire.room, call: 4, recipient: Wire.bob, device: Wire.device, data: ["sdp": "x"]),
            ["conv": Wire.conv, "call": 4, "to": "bob", "device": "0000000000005", "data": ["sdp": "x"]])
        try Wire.check(
            SignalPush(conversation: Wire.room, call: 4, sender: Wire.bob, device: Wire.device, data: ["sdp": "x"]),
            ["conv": Wire.conv, "call": 4, "from": "bob", "device": "0000000000005", "data": ["sdp": "x"]])
    }
}
