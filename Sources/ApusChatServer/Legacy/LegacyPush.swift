import ApusChatProtocol
import ApusJSON

/// The part of a chat push that is relevant to apps of the legacy protocol. It contains no
/// messages, because they are read from the log.
enum LegacyPush: Sendable {
    /// New events of a conversation. `calls` contains the call events among them.
    case news(ConversationID, from: Int64, to: Int64, calls: [JSONValue])
    case heads(JSONValue)
    case presence(JSONValue)
    case signal(JSONValue)

    /// - Returns: Nil for a push that is not relevant to the apps.
    init?(_ name: String, _ value: JSONValue) {
        switch name {
        case ChatPushes.event.name:
            guard let events = value["events"]?.arrayValue, let first = events.first, let last = events.last,
                let conversation = first["conv"]?.stringValue.flatMap({ ConversationID($0) }), let from = first["seq"]?.intValue,
                let to = last["seq"]?.intValue
            else { return nil }
            let kinds = [EventKind.call.description, EventKind.callUpdate.description]
            let calls = events.filter { event in event["kind"]?.stringValue.map { kinds.contains($0) } ?? false }
            self = .news(conversation, from: Int64(from), to: Int64(to), calls: calls)
        case ChatPushes.head.name: self = .heads(value)
        case ChatPushes.presence.name: self = .presence(value)
        case ChatPushes.signal.name: self = .signal(value)
        default: return nil
        }
    }
}
