package import ApusChatStorage
package import ApusChatWire

/// A request that changes something, as data.
///
/// The session has resolved user names to keys and validated the content. What was wrong travels as
/// a value, because a retry is answered before anything is validated.
package struct Command: Sendable {
    /// The signed-in user. Never taken from the request.
    package var actor: UserKey
    /// The device that sent the request.
    package var device: DeviceKey
    /// The id and the hash of the request. Nil for `mark`, which is idempotent by itself.
    package var request: RequestIdentity?
    package var action: Action

    package init(actor: UserKey, device: DeviceKey, request: RequestIdentity?, action: Action) {
        self.actor = actor
        self.device = device
        self.request = request
        self.action = action
    }

    package enum Action: Sendable {
        case send(SendCommand)
        case mark(MarkCommand)
    }
}

/// What makes two requests the same: the client's id and the hash of the request as sent.
package struct RequestIdentity: Sendable, Equatable {
    package var id: ClientID
    package var hash: RequestHash

    package init(id: ClientID, hash: RequestHash) {
        self.id = id
        self.hash = hash
    }
}

/// Sends a message.
package struct SendCommand: Sendable {
    package var conversation: ConversationKey
    package var content: Result<MessageContent, ChatError>
    /// The seq of the message that this one answers, or 0.
    package var ref: Int64
    /// The epoch that the conversation must have (reserved for end-to-end encryption).
    package var ifEpoch: Int64?

    package init(conversation: ConversationKey, content: Result<MessageContent, ChatError>, ref: Int64 = 0, ifEpoch: Int64? = nil) {
        self.conversation = conversation
        self.content = content
        self.ref = ref
        self.ifEpoch = ifEpoch
    }
}

/// The valid content of a message.
package struct MessageContent: Sendable, Equatable {
    package var kind: EventKind
    /// The body as JSON text, as it is stored and sent.
    package var body: String
    package var mentions: [UserKey]
    package var mentionsAll: Bool
    package var blobs: [BlobID]
    /// The number of options of a poll, else 0.
    package var options: Int

    package init(
        kind: EventKind, body: String, mentions: [UserKey] = [], mentionsAll: Bool = false, blobs: [BlobID] = [], options: Int = 0
    ) {
        self.kind = kind
        self.body = body
        self.mentions = mentions
        self.mentionsAll = mentionsAll
        self.blobs = blobs
        self.options = options
    }
}

/// Moves the sender's read position.
package struct MarkCommand: Sendable {
    package var conversation: ConversationKey
    /// The ordinal of the last read message.
    package var read: Int64

    package init(conversation: ConversationKey, read: Int64) {
        self.conversation = conversation
        self.read = read
    }
}
