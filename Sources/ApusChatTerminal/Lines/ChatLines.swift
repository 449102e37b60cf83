import ApusBytes
package import ApusChatClient
package import ApusChatProtocol
import ApusJSON

/// Encodes the chat as lines for pipes and scripts, with one JSON object on each line.
package enum ChatLines {
    /// Encodes a message or a change: `{"conv", "seq"?, "n"?, "id"?, "sender"?, "at", "kind",
    /// "state"?, "text"?, "body"?, "delivery"?}`.
    package static func line(_ message: ChatMessage) -> String {
        let event = message.event
        var object: JSONObject = ["conv": .string(event.conversation.rawValue)]
        if let seq = message.seq { object["seq"] = .integer(seq) }
        if let n = event.n { object["n"] = .integer(n) }
        if let id = event.id { object["id"] = .string(id.rawValue) }
        if let sender = event.sender { object["sender"] = .string(sender.rawValue) }
        object["at"] = .integer(event.at)
        object["kind"] = .string(event.kind.rawValue)
        if event.state != .normal { object["state"] = .string(event.state.rawValue) }
        if let text = message.text { object["text"] = .string(text) }
        if !event.body.isEmpty { object["body"] = .object(event.body) }
        if let delivery = message.delivery { object["delivery"] = .string(self.name(delivery)) }
        return self.text(object)
    }

    /// Encodes a conversation: `{"conv", "kind", "title"?, "peer"?, "unread", "mentions", "at",
    /// "last"?}`.
    package static func line(_ head: ChatHead) -> String {
        var object: JSONObject = ["conv": .string(head.conversation.rawValue), "kind": .string(head.kind.rawValue)]
        if let title = head.title { object["title"] = .string(title) }
        if let peer = head.peer { object["peer"] = .string(peer.name.rawValue) }
        object["unread"] = .integer(head.unread)
        object["mentions"] = .integer(head.mentions)
        object["at"] = .integer(head.at)
        if let text = head.last?.text { object["last"] = .string(text) }
        return self.text(object)
    }

    private static func name(_ delivery: DeliveryState) -> String {
        switch delivery {
        case .queued: "queued"
        case .uploading: "uploading"
        case .sending: "sending"
        case .sent: "sent"
        case .delivered: "delivered"
        case .read: "read"
        case .failed: "failed"
        }
    }

    /// Encodes an object. Escapes characters that could control a terminal.
    private static func text(_ object: JSONObject) -> String {
        let json = (try? JSONValue.object(object).jsonString()) ?? "{}"
        guard json.unicodeScalars.contains(where: { !PeerText.isHarmless($0) }) else { return json }
        return json.unicodeScalars.map { scalar in
            guard !PeerText.isHarmless(scalar) else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }.joined()
    }
}
