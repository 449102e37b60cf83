package import ApusChatProtocol
package import ApusChatStorage

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
        // Messages.
        case send(SendCommand)
        case mark(MarkCommand)
        /// Several messages at once, all or none. The session has read the forwarded ones.
        case forward(ConversationKey, Result<[MessageContent], ChatError>, isSilent: Bool = false)
        case edit(EventAddress, Result<MessageContent, ChatError>)
        case recall(EventAddress)
        /// "Delete for me".
        case hide(ConversationKey, [Int64])
        case react(EventAddress, key: String, isOn: Bool)
        /// The chosen options replace the earlier ones.
        case vote(EventAddress, options: [Int])
        case closePoll(EventAddress)
        case pin(EventAddress, isOn: Bool)
        /// Stores a message that the server sends later.
        case schedule(ScheduleCommand)
        case unschedule(ClientID)
        case startCall(ConversationKey, CallMedia)
        case updateCall(EventAddress, CallState)
        // Conversations.
        case openPair(peer: UserKey?, new: ConversationKey)
        case create(CreateCommand)
        case set(ConversationKey, ConversationUpdate)
        /// For all members.
        case delete(ConversationKey)
        // Members.
        case invite(ConversationKey, [UserKey?])
        case join(ConversationKey)
        case joinByLink(String)
        /// Accepts or declines an invitation.
        case answerInvitation(ConversationKey, accepts: Bool)
        /// Approves or rejects a request to join.
        case answerRequest(ConversationKey, UserKey?, approves: Bool)
        case leave(ConversationKey, forgets: Bool)
        case remove(ConversationKey, [UserKey?])
        /// Until a time, or 0 for always.
        case ban(ConversationKey, [UserKey?], isOn: Bool, until: Int64 = 0)
        /// Until a time; 0 lets the members write again.
        case silence(ConversationKey, [UserKey?], until: Int64)
        case setRole(ConversationKey, [UserKey?], MemberRole)
        case transfer(ConversationKey, to: UserKey?)
        case createLink(ConversationKey, LinkTerms)
        case revokeLink(String)
        // The own account.
        case personalize(ConversationKey, OwnChange)
        case updateProfile(ProfileUpdate)
        case contact(UserKey?, ContactChange)
        case report(user: UserKey?, event: EventAddress?, reason: String, text: String = "")
        /// Tells the devices of the user that one of them was added or removed.
        case noteDevice(DeviceChange)
        // The server itself, whose actor is key 0.
        case blank([EventAddress], EventState)
        /// Ends the memberships of a deleted conversation.
        case dismiss(ConversationKey, [UserKey])
        /// Notes that the messages of a deleted account are erased.
        case finishErasure(UserKey)
        /// Sends a scheduled message whose time has come. The actor is its sender.
        case sendScheduled(ScheduledAddress, SendCommand)
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
    /// The seq of the message whose thread this one belongs to, or 0.
    package var thread: Int64
    /// The epoch that the conversation must have (reserved for end-to-end encryption).
    package var ifEpoch: Int64?
    /// Whether recipients are not notified.
    package var isSilent: Bool

    package init(
        conversation: ConversationKey, content: Result<MessageContent, ChatError>, ref: Int64 = 0, thread: Int64 = 0, ifEpoch: Int64? = nil,
        isSilent: Bool = false
    ) {
        self.conversation = conversation
        self.content = content
        self.ref = ref
        self.thread = thread
        self.ifEpoch = ifEpoch
        self.isSilent = isSilent
    }
}

/// Stores a message that the server sends at a time.
package struct ScheduleCommand: Sendable {
    /// The message as it would be sent now.
    package var send: SendCommand
    /// The body as JSON text, as it was requested.
    package var body: String
    package var kind: EventKind
    package var sendAt: Int64

    package init(send: SendCommand, kind: EventKind, body: String, sendAt: Int64) {
        self.send = send
        self.kind = kind
        self.body = body
        self.sendAt = sendAt
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
    package var allowsManyVotes: Bool
    package var hidesVoters: Bool
    /// The time at which a poll ends, or 0.
    package var closesAt: Int64 = 0

    package init(
        kind: EventKind, body: String, mentions: [UserKey] = [], mentionsAll: Bool = false, blobs: [BlobID] = [], options: Int = 0,
        allowsManyVotes: Bool = false, hidesVoters: Bool = false
    ) {
        self.kind = kind
        self.body = body
        self.mentions = mentions
        self.mentionsAll = mentionsAll
        self.blobs = blobs
        self.options = options
        self.allowsManyVotes = allowsManyVotes
        self.hidesVoters = hidesVoters
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
