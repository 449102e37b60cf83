package import ApusChatProtocol

/// The properties of an account that the core needs. Credentials are stored separately.
package struct AccountRow: Sendable, Equatable {
    package var key: UserKey
    package var name: UserName
    package var nickname: String
    package var state: AccountState
    /// The user's conversation for notes and settings.
    package var selfConversation: ConversationKey
    package var privacy = AccountPrivacy()
    package var about = ""
    package var statusText = ""
    package var avatar: BlobID?
    package var folders: [FolderRow] = []
    /// The hours without notifications; nil if the user has set no quiet hours.
    package var quietHours: QuietHours?
    /// Whether all messages of a deleted account are erased.
    package var isErased = false
    /// The number of conversations in the list. The storage does not store this number, but
    /// determines it for the accounts that a batch needs.
    package var conversationCount = 0
    /// The number of pinned conversations. The storage determines it when it reads the row for a
    /// batch.
    package var pinnedCount = 0
    /// The number of unanswered invitations. The storage determines it when it reads the row for a
    /// batch.
    package var invitationCount = 0
    /// The number of invitations and contact requests that the user sent on `invitationDay`.
    package var invitationsToday = 0
    package var invitationDay: Int64 = 0
    /// The number of the batch that last changed this row. The storage sets it.
    package var changed: Int64 = 0

    package init(key: UserKey, name: UserName, nickname: String, selfConversation: ConversationKey) {
        self.key = key
        self.name = name
        self.nickname = nickname
        self.state = .active
        self.selfConversation = selfConversation
    }
}

/// The users who may see the properties of an account, and the users who may contact its user.
package struct AccountPrivacy: Sendable, Equatable {
    /// The users who can open a conversation with this user.
    package var messages = Audience.all
    /// The users who can add this user to groups without an invitation.
    package var add = Audience.contacts
    /// The users who see whether this user is connected, and the time of the last sign-in or
    /// renewal of a session.
    package var lastSeen = Audience.contacts
    /// The users who see this user's picture.
    package var avatar = Audience.all
    /// The users who can find this user by a search.
    package var find = Audience.all
    /// Whether other users see this user's read positions, and this user sees theirs.
    package var receipts = true
    /// Whether other users see that this user is writing.
    package var typing = true
    package init() {}
}

/// A daily period, in minutes after midnight UTC. It can span midnight.
package struct QuietHours: Sendable, Equatable {
    package var from: Int64
    package var until: Int64
    package init(from: Int64, until: Int64) {
        self.from = from
        self.until = until
    }
}

/// Whether an account can be used.
package enum AccountState: UInt8, Sendable {
    case active = 0
    /// Suspended by an operator. Its conversations remain.
    case suspended = 1
    /// Deleted by its owner. The name is never assigned again.
    case deleted = 2
}

/// The relation of an owner to another user, the peer.
package struct ContactRow: Sendable, Equatable {
    package var address: ContactAddress
    package var relation: ContactRelation = .none
    package var isBlocked = false
    package var alias = ""
    /// The text of the contact request; empty for a request without a text.
    package var text = ""
    /// The time of the last change of the relation or the block, in milliseconds since 1970; 0 if
    /// an earlier version stored the row.
    package var at: Int64 = 0
    /// The number of the batch that last changed this row. The storage sets it.
    package var changed: Int64 = 0

    package init(address: ContactAddress) { self.address = address }
}

/// The relation of a contact row.
package enum ContactRelation: UInt8, Sendable {
    case none = 0
    /// The owner sent a request to the peer.
    case asked = 1
    /// The peer sent a request to the owner.
    case requested = 2
    /// The users are contacts.
    case friend = 3
}

/// An invite link of a conversation.
package struct LinkRow: Sendable, Equatable {
    package var code: String
    package var conversation: ConversationKey
    package var creator: UserKey
    package var createdAt: Int64
    /// The role of users who join by the link.
    package var role: MemberRole
    /// The time from which the link is refused, in milliseconds since 1970; 0 if the link does not
    /// expire.
    package var expiresAt: Int64
    /// The number of remaining joins and requests to join; -1 for no limit.
    package var usesLeft: Int64
    /// The number of joins and of requests to join by the link.
    package var used: Int64 = 0
    /// Whether a join by the link needs the approval of an admin.
    package var needsApproval: Bool
    package var isRevoked = false

    package init(
        code: String, conversation: ConversationKey, creator: UserKey, createdAt: Int64, role: MemberRole = .member, expiresAt: Int64 = 0,
        usesLeft: Int64 = -1, needsApproval: Bool = false
    ) {
        self.code = code
        self.conversation = conversation
        self.creator = creator
        self.createdAt = createdAt
        self.role = role
        self.expiresAt = expiresAt
        self.usesLeft = usesLeft
        self.needsApproval = needsApproval
    }
}

/// A report of a user, a message or a conversation to the operators.
package struct ReportRow: Sendable, Equatable {
    package var reporter: UserKey
    /// The reported user, or the sender of the reported message; nil if the report concerns a
    /// conversation.
    package var subject: UserKey?
    /// The reported message; nil if the report concerns a user or a conversation.
    package var event: EventAddress?
    /// The reported conversation; nil if the report concerns a user or a message.
    package var conversation: ConversationKey?
    package var reason: String
    /// The explanation of the reporter.
    package var text: String
    package var at: Int64
    /// The time at which an operator resolved the report, in milliseconds since 1970; 0 for an open
    /// report.
    package var resolvedAt: Int64 = 0

    package init(reporter: UserKey, subject: UserKey, event: EventAddress?, reason: String, text: String = "", at: Int64) {
        self.reporter = reporter
        self.subject = subject
        self.event = event
        self.reason = reason
        self.text = text
        self.at = at
    }

    package init(reporter: UserKey, conversation: ConversationKey, reason: String, text: String = "", at: Int64) {
        self.reporter = reporter
        self.conversation = conversation
        self.reason = reason
        self.text = text
        self.at = at
    }
}

/// The stored answer to a request that changes data, other than `send` and `mark`. It is stored for
/// retries, for 7 days by default.
package struct RequestRow: Sendable, Equatable {
    package var address: RequestAddress
    package var hash: RequestHash
    package var answer: StoredAnswer
    package var at: Int64

    package init(address: RequestAddress, hash: RequestHash, answer: StoredAnswer, at: Int64) {
        self.address = address
        self.hash = hash
        self.answer = answer
        self.at = at
    }
}

/// Identifies a request by its user and the id that the client chose.
package struct RequestAddress: Hashable, Sendable {
    package let user: UserKey
    package let id: ClientID
    package init(_ user: UserKey, _ id: ClientID) {
        self.user = user
        self.id = id
    }
}

/// Identifies a message by its conversation, its sender and the id that the client chose. Unlike
/// the ids of other requests, the id is stored as long as the event.
package struct SendAddress: Hashable, Sendable {
    package let conversation: ConversationKey
    package let sender: UserKey
    package let id: ClientID
    package init(_ conversation: ConversationKey, _ sender: UserKey, _ id: ClientID) {
        self.conversation = conversation
        self.sender = sender
        self.id = id
    }
}

/// The answer to a request that changes data. A retry receives the same answer. `seq` and `n` are
/// those of the event that the request added, or 0. For `mark`, they are the last `seq` and the
/// read position.
package struct StoredAnswer: Sendable, Equatable {
    package var conversation: ConversationKey
    package var seq: Int64
    package var n: Int64
    package var at: Int64
    /// An additional text of the answer, such as the code of a link. It is empty for most requests.
    package var text: String

    package init(conversation: ConversationKey, seq: Int64, n: Int64, at: Int64, text: String = "") {
        self.conversation = conversation
        self.seq = seq
        self.n = n
        self.at = at
        self.text = text
    }
}
