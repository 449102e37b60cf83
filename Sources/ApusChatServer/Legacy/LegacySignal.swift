import ApusBytes
import ApusChatProtocol
import ApusJSON

/// A call in the legacy protocol, which calls it a room. The name of the room consists of the
/// conversation and the `seq` of the call.
struct LegacyRoom: Hashable, Sendable {
    var conversation: ConversationID
    /// The `seq` of the call.
    var call: Int64

    init(_ conversation: ConversationID, _ call: Int64) {
        self.conversation = conversation
        self.call = call
    }

    /// Parses the name of a room.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let conversation = ConversationID(String(parts[0])), let call = Int64(digits: parts[1]), call > 0 else {
            return nil
        }
        self.init(conversation, call)
    }

    var name: String { "\(self.conversation)-\(self.call)" }
}

/// The data of a `signal` in a call in which an app of the legacy protocol takes part.
///
/// It is `{type: "join"}`, `{type: "leave"}`, `{type: "offer" | "answer", sdp}`, or `{type:
/// "candidate", candidate: {candidate, sdpMid, sdpMLineIndex}}` in the form of
/// `RTCIceCandidateInit` (W3C WebRTC 1.0).
enum LegacySignal: Hashable, Sendable {
    case join
    case leave
    case offer(sdp: String)
    case answer(sdp: String)
    case candidate(text: String, mid: String, index: Int64)

    /// Decodes an event of an app: `__offer`, `__answer` or `__ice_candidate`.
    init(event: String, _ value: JSONValue) throws(LegacyRefusal) {
        switch event {
        case "__offer", "__answer":
            guard let sdp = value["sdp"]?["sdp"]?.stringValue else { throw LegacyRefusal("`sdp` must be a session description.") }
            self = event == "__offer" ? .offer(sdp: sdp) : .answer(sdp: sdp)
        case "__ice_candidate":
            guard let text = value["candidate"]?.stringValue, let mid = value["id"]?.stringValue,
                let index = LegacyMessage.integer(value["label"]), (0...1_000).contains(index)
            else { throw LegacyRefusal("`candidate`, `id` and `label` must be an ICE candidate.") }
            self = .candidate(text: text, mid: mid, index: index)
        default: throw LegacyRefusal("`\(event)` is not an event of a call.")
        }
    }

    /// Decodes the data of a signal; nil for a signal that the legacy protocol does not define.
    init?(_ data: JSONObject) {
        switch data["type"]?.stringValue {
        case "join": self = .join
        case "leave": self = .leave
        case "offer":
            guard let sdp = data["sdp"]?.stringValue else { return nil }
            self = .offer(sdp: sdp)
        case "answer":
            guard let sdp = data["sdp"]?.stringValue else { return nil }
            self = .answer(sdp: sdp)
        case "candidate":
            guard let candidate = data["candidate"], let text = candidate["candidate"]?.stringValue else { return nil }
            self = .candidate(
                text: text, mid: candidate["sdpMid"]?.stringValue ?? "", index: LegacyMessage.integer(candidate["sdpMLineIndex"]) ?? 0)
        default: return nil
        }
    }

    /// The encoded data of the signal.
    var data: JSONObject {
        switch self {
        case .join: ["type": "join"]
        case .leave: ["type": "leave"]
        case .offer(let sdp): ["type": "offer", "sdp": .string(sdp)]
        case .answer(let sdp): ["type": "answer", "sdp": .string(sdp)]
        case .candidate(let text, let mid, let index):
            [
                "type": "candidate",
                "candidate": ["candidate": .string(text), "sdpMid": .string(mid), "sdpMLineIndex": .integer(index)],
            ]
        }
    }

    /// Returns the event that names the devices that already take part. The app sends an offer to
    /// each of them, and waits for the offers of devices that join later.
    static func peers(_ devices: [DeviceID], you: DeviceID) -> LegacyFrame {
        LegacyFrame("_peers", ["connections": .array(devices.map { .string($0.rawValue) }), "you": .string(you.rawValue)])
    }

    /// Returns the event for an app.
    ///
    /// - Parameter sender: The device that sent the signal.
    func frame(from sender: DeviceID) -> LegacyFrame {
        let socket = JSONValue.string(sender.rawValue)
        return switch self {
        case .join: LegacyFrame("_new_peer", ["socketId": socket])
        case .leave: LegacyFrame("_remove_peer", ["socketId": socket])
        case .offer(let sdp): LegacyFrame("_offer", ["sdp": ["type": "offer", "sdp": .string(sdp)], "socketId": socket])
        case .answer(let sdp): LegacyFrame("_answer", ["sdp": ["type": "answer", "sdp": .string(sdp)], "socketId": socket])
        case .candidate(let text, let mid, let index):
            LegacyFrame(
                "_ice_candidate",
                ["id": .string(mid), "label": .integer(index), "candidate": .string(text), "socketId": socket])
        }
    }
}
