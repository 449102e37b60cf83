import ApusChatProtocol
package import ApusJSON

/// The `data` of a `signal` between the devices of a call (`docs/calls.md`).
///
/// The data is received from other users. Therefore, each field is validated and bounded.
package struct CallSignal: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        /// The device takes part. `isReply`: the device answers an announcement. `isRepeated`: the
        /// device announces itself again after a reconnection.
        case join(isReply: Bool = false, isRepeated: Bool = false)
        /// The device leaves. `isMoved`: another device of the recipient's user replaced the
        /// recipient.
        case leave(isMoved: Bool = false)
        case full
        case answered
        case state(microphone: Bool, camera: Bool, screen: Bool)
        case offer(sdp: String)
        case answer(sdp: String)
        case candidate(text: String, mid: String?, index: Int64?, fragment: String?)
    }

    package static let maximumDescription = 100_000
    package static let maximumCandidate = 1_000

    package var content: Content
    /// The name of the participation that sends the signal; empty for apps that do not send a name.
    package var session: String
    /// The name of the participation that receives the signal; empty for announcements.
    package var recipient: String

    package init(_ content: Content, session: String, recipient: String = "") {
        self.content = content
        self.session = session
        self.recipient = recipient
    }

    /// Parses the data of a signal. Returns nil if the data is not valid.
    package init?(_ data: JSONObject) {
        guard let content = Self.content(data) else { return nil }
        self.init(content, session: Self.name(data["session"]), recipient: Self.name(data["to"]))
    }

    private static func content(_ data: JSONObject) -> Content? {
        func flag(_ name: String) -> Bool { data[name] == .bool(true) }
        switch data["type"]?.stringValue {
        case "join": return .join(isReply: flag("reply"), isRepeated: flag("again"))
        case "leave": return .leave(isMoved: flag("moved"))
        case "full": return .full
        case "answered": return .answered
        case "state": return .state(microphone: data["microphone"] != .bool(false), camera: flag("camera"), screen: flag("screen"))
        case "offer": return Self.description(data).map { .offer(sdp: $0) }
        case "answer": return Self.description(data).map { .answer(sdp: $0) }
        case "candidate": return data["candidate"]?.objectValue.flatMap(Self.candidate)
        default: return nil
        }
    }

    private static func description(_ data: JSONObject) -> String? {
        guard let sdp = data["sdp"]?.stringValue, !sdp.isEmpty, sdp.utf8.count <= Self.maximumDescription else { return nil }
        return sdp
    }

    private static func candidate(_ value: JSONObject) -> Content? {
        func text(_ name: String) -> String? { value[name]?.stringValue.flatMap { $0.utf8.count <= 256 ? $0 : nil } }
        guard let candidate = value["candidate"]?.stringValue, candidate.utf8.count <= Self.maximumCandidate else { return nil }
        var index: Int64?
        if case .integer(let number)? = value["sdpMLineIndex"], (0...1_000).contains(number) { index = number }
        let mid = text("sdpMid")
        guard mid != nil || index != nil else { return nil }
        return .candidate(text: candidate, mid: mid, index: index, fragment: text("usernameFragment"))
    }

    private static func name(_ value: JSONValue?) -> String {
        guard let text = value?.stringValue, (1...64).contains(text.utf8.count) else { return "" }
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isName ? text : ""
    }

    package var data: JSONObject {
        var data: JSONObject
        switch self.content {
        case .join(let isReply, let isRepeated):
            data = ["type": "join"]
            if isReply { data["reply"] = true }
            if isRepeated { data["again"] = true }
        case .leave(let isMoved): data = isMoved ? ["type": "leave", "moved": true] : ["type": "leave"]
        case .full: data = ["type": "full"]
        case .answered: data = ["type": "answered"]
        case .state(let microphone, let camera, let screen):
            data = ["type": "state", "microphone": .bool(microphone), "camera": .bool(camera), "screen": .bool(screen)]
        case .offer(let sdp): data = ["type": "offer", "sdp": .string(sdp)]
        case .answer(let sdp): data = ["type": "answer", "sdp": .string(sdp)]
        case .candidate(let text, let mid, let index, let fragment):
            var candidate: JSONObject = ["candidate": .string(text)]
            if let mid { candidate["sdpMid"] = .string(mid) }
            if let index { candidate["sdpMLineIndex"] = .integer(index) }
            if let fragment { candidate["usernameFragment"] = .string(fragment) }
            data = ["type": "candidate", "candidate": .object(candidate)]
        }
        if !self.session.isEmpty { data["session"] = .string(self.session) }
        if !self.recipient.isEmpty { data["to"] = .string(self.recipient) }
        return data
    }
}
