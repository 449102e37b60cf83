package import ApusChatProtocol
package import ApusChatStorage

/// A request that changes data, after its validation.
///
/// The session has resolved user names to keys and has validated the content. A validation error is
/// part of the command, because a retry receives the first answer even if its content is no longer
/// valid.
package struct Command: Sendable {
    /// The signed-in user, taken from the session and never from the request.
    package var actor: UserKey
    /// The device that sent the request.
    package var device: DeviceKey
    /// The id and the hash of the request. Nil for `mark`, whose repetition has no effect, for
    /// commands of the server, and for all but the last command of a request.
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
        /// Sends several messages, all or none. The session has read the messages to forward.
        case forward(ConversationKey, Result<[MessageContent], ChatError>, isSilent: Bool = false)
        case edit(EventAddress, Result<MessageContent, ChatError>)
        /// Removes the preview of a link from a message of the actor.
        case removePreview(EventAddress)
        case recall(EventAddress)
        /// Hides events from the actor ("delete for me").
        case hide(ConversationKey, [Int64])
        case react(EventAddress, key: String, isOn: Bool)
        /// Sets the votes of the actor, which replace earlier ones.
        case vote(EventAddress, options: [Int])
        case closePoll(EventAddress)
        case pin(EventAddress, isOn: Bool)
        /// Stores a message that the server sends at a later time.
        indirect case schedule(ScheduleCommand)
        case unschedule(ClientID)
        case startCall(ConversationKey, CallMedia, CallBackendOffer? = nil)
        case updateCall(EventAddress, CallState)
        // Conversations.
        case openPair(peer: UserKey?, new: ConversationKey)
        case create(CreateCommand)
        case set(ConversationKey, ConversationUpdate)
        /// Deletes a conversation for all members.
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
        /// Bans users until a time, or lifts their bans. `until` 0 is a ban without an end.
        case ban(ConversationKey, [UserKey?], isOn: Bool, until: Int64 = 0)
        /// Silences members until a time. 0 lets them write again.
        case silence(ConversationKey, [UserKey?], until: Int64)
        case setRole(ConversationKey, [UserKey?], MemberRole)
        case transfer(ConversationKey, to: UserKey?)
        case createLink(ConversationKey, LinkTerms)
        case revokeLink(String)
        // Settings and relations of the actor.
        case personalize(ConversationKey, OwnChange)
        /// Makes several changes, all or none.
        case personalizeAll(ConversationKey, [OwnChange])
        case updateProfile(ProfileUpdate)
        case contact(UserKey?, ContactChange)
        /// Reports events. Without events, reports the conversation; without a conversation, the
        /// user.
        case report(user: UserKey?, events: [EventAddress] = [], conversation: ConversationKey? = nil, reason: String, text: String = "")
        /// Notifies the devices of the actor that one of them was added or removed.
        case noteDevice(DeviceChange)
        // Commands of the server. Their actor is `UserKey(0)` unless the comment of the case names
        // another.
        case blank([EventAddress], EventState)
        case setPreview(PreviewCommand)
        /// Ends the memberships of a deleted conversation.
        case dismiss(ConversationKey, [UserKey])
        /// Records that all messages of a deleted account are erased.
        case finishErasure(UserKey)
        /// Sends a scheduled message that is due. The actor is its sender.
        case sendScheduled(ScheduledAddress, SendCommand)
    }
}

/// Adds the preview of a link to a text message.
package struct PreviewCommand: Sendable {
    package var target: EventAddress
    /// The body of the text for which the preview was made, as JSON text.
    package var before: String
    /// The body of the text with the preview, as JSON text.
    package var after: String
    /// The body of the `preview` event, as JSON text.
    package var change: String

    package init(target: EventAddress, before: String, after: String, change: String) {
        self.target = target
        self.before = before
        self.after = after
        self.change = change
    }
}

/// Identifies a request, to detect retries: the id that the client chose, and the hash of the
/// request as sent.
package struct RequestIdentity: Sendable, Equatable {
    package var id: ClientID
    package var hash: RequestHash

    package init(id: ClientID, hash: RequestHash) {
        self.id = id
        self.hash = hash
    }
}

/// The parameters of `send`.
package struct SendCommand: Sendable {
    package var conversation: ConversationKey
    package var content: Result<MessageContent, ChatError>
    /// The `seq` of the message to which this message replies, or 0.
    package var ref: Int64
    /// The `seq` of the message that began the thread, or 0.
    package var thread: Int64
    /// The epoch that the conversation must have (reserved for end-to-end encryption).
    package var ifEpoch: Int64?
    /// Whether to send without notifying the recipients.
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

/// The parameters of `schedule`.
package struct ScheduleCommand: Sendable {
    /// The message, as `send` would send it now.
    package var send: SendCommand
    /// The requested body as JSON text.
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

/// The validated content of a message.
package struct MessageContent: Sendable, Equatable {
    package var kind: EventKind
    /// The body as JSON text, as it is stored and sent.
    package var body: String
    package var mentions: [UserKey]
    package var mentionsAll: Bool
    package var blobs: [BlobID]
    /// The number of options of a poll; 0 for other kinds.
    package var options: Int
    package var allowsManyVotes: Bool
    package var hidesVoters: Bool
    /// The time at which a poll ends, in milliseconds since 1970, or 0.
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

/// The parameters of `mark`.
package struct MarkCommand: Sendable {
    package var conversation: ConversationKey
    /// The ordinal of the last message that the user has read.
    package var read: Int64

    package init(conversation: ConversationKey, read: Int64) {
        self.conversation = conversation
        self.read = read
    }
}

/// The media server of the operator, for a call that a device starts.
package struct CallBackendOffer: Hashable, Sendable {
    /// The kind of the media server, such as `livekit`.
    package var kind: String
    /// Whether the client can join a call of the media server.
    package var isSupported: Bool

    package init(kind: String, isSupported: Bool) {
        self.kind = kind
        self.isSupported = isSupported
    }
}
