import ApusChatProtocol
import ApusJSON

/// An event for an app that uses the legacy protocol.
struct LegacyFrame: Hashable, Sendable {
    var event: String
    var argument: JSONValue
    /// The picture whose bytes are sent as `bodies.fileData`; nil for none.
    var thumbnail: BlobID?

    init(_ event: String, _ argument: JSONValue, thumbnail: BlobID? = nil) {
        self.event = event
        self.argument = argument
        self.thumbnail = thumbnail
    }

    /// Returns the frame with the bytes of its picture.
    func with(thumbnail bytes: [UInt8]) -> Self {
        guard var object = self.argument.objectValue, var bodies = object["bodies"]?.objectValue else { return self }
        bodies["fileData"] = .binary(bytes)
        object["bodies"] = .object(bodies)
        return LegacyFrame(self.event, .object(object))
    }
}

/// The name of a conversation in the legacy protocol.
enum LegacyConversation: Hashable, Sendable {
    case pair(UserName)
    /// The user's notes, which the legacy protocol represents as a chat of the user with itself.
    case own
    /// A group, which the legacy protocol identifies by its title.
    case group(String)

    /// - Returns: Nil for conversations that the legacy protocol does not show: channels, and
    ///   conversations that the user has not joined.
    init?(_ head: ChatHead) {
        guard head.state == .joined else { return nil }
        switch head.kind {
        case .pair:
            guard let peer = head.peer else { return nil }
            self = .pair(peer.name)
        case .own: self = .own
        case .group: self = .group(head.title ?? "")
        default: return nil
        }
    }

    /// Whether the app acknowledges the messages of the conversation.
    var hasAcks: Bool {
        switch self {
        case .pair, .own: true
        case .group: false
        }
    }
}

/// Encodes events of the log as frames for one user.
struct LegacyFrames: Sendable {
    let user: UserName
    let bodies: LegacyBodies

    /// Returns the frames of an event; none for changes, hidden events and the user's messages in a
    /// pair. If a group was created or users joined it, returns a notice, as the legacy protocol
    /// requires.
    func frames(of event: ChatEvent, in conversation: LegacyConversation) -> [LegacyFrame] {
        if case .group(let title) = conversation, event.kind == .conversationCreate || event.kind == .memberJoin {
            return [LegacyFrame("GroupChat", ["roomId": .string(title)])]
        }
        guard event.n != nil, !event.state.isBlank, let sender = event.sender, let body = ChatBody(event) else { return [] }
        let recipient: String
        switch conversation {
        case .pair:
            guard sender != self.user else { return [] }
            recipient = self.user.rawValue
        case .own: recipient = self.user.rawValue
        case .group(let title): recipient = title
        }
        let id = Self.messageID(event.conversation, event.seq)
        return self.bodies.bodies(of: body).enumerated().map { index, bodies in
            var message: JSONObject = [
                "msg_id": .string(index == 0 ? id : "\(id)-\(index)"), "from_user": .string(sender.rawValue), "to_user": .string(recipient),
                "chat_type": "chat", "sendtime": .integer(event.at), "sendTime": .integer(event.at), "timestamp": .integer(event.at),
                "bodies": .object(bodies),
            ]
            guard case .group(let title) = conversation else {
                return LegacyFrame("chat", .object(message), thumbnail: index == 0 ? self.bodies.thumbnail(of: body) : nil)
            }
            message["roomId"] = .string(title)
            message["chat_type"] = "groupChat"
            return LegacyFrame("GroupChat", .object(message), thumbnail: index == 0 ? self.bodies.thumbnail(of: body) : nil)
        }
    }

    /// Returns the frames of changed presences. Omits the presence of the user itself.
    func frames(of push: PresencePush) -> [LegacyFrame] {
        push.users.filter { $0.user != self.user }.map { entry in
            LegacyFrame(entry.isOnline ? "onLine" : "offLine", ["user": .string(entry.user.rawValue)])
        }
    }

    static func messageID(_ conversation: ConversationID, _ seq: Int64) -> String { "\(conversation)-\(seq)" }
}
