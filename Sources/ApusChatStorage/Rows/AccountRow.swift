package import ApusChatProtocol

/// What the core needs to know of an account. Credentials are kept by the accounts service.
package struct AccountRow: Sendable, Equatable {
    package var key: UserKey
    package var name: UserName
    package var nickname: String
    package var state: AccountState
    /// The private conversation for notes and settings.
    package var selfConversation: ConversationKey
    package var privacy = AccountPrivacy()
    package var about = ""
    package var statusText = ""
    package var avatar: BlobID?
    package var folders: [Folder] = []
    /// The hours without notifications, or nil.
    package var quietHours: QuietHours?
    /// Whether the messages of a deleted account are erased.
    package var isErased = false
    /// The numbers of member rows that are not gone, of pinned ones, and of invitations that wait
    /// for an answer. Not stored: the storage counts them for the accounts that a batch needs.
    package var conversationCount = 0
    package var pinnedCount = 0
    package var invitationCount = 0
    /// Invitations sent that are not answered, and the day they were counted for.
    package var invitationsToday = 0
    package var invitationDay: Int64 = 0
    /// The commit of the last change of this row, set by the storage.
    package var changed: Int64 = 0

    package init(key: UserKey, name: UserName, nickname: String, selfConversation: ConversationKey) {
        self.key = key
        self.name = name
        self.nickname = nickname
        self.state = .active
        self.selfConversation = selfConversation
    }
}

/// What an account shows to others, and who may reach it.
package struct AccountPrivacy: Sendable, Equatable {
    /// The users that may open a conversation with this one.
    package var messages = Audience.all
    /// The users that add this one to groups without an invitation: `contacts` or `none`.
    package var add = Audience.contacts
    /// The users that see whether this one is connected, and when it last was.
    package var lastSeen = Audience.contacts
    /// The users that see the picture.
    package var avatar = Audience.all
    /// The users that find this one by a search.
    package var find = Audience.all
    /// Whether others see the read positions of this one, and this one theirs.
    package var receipts = true
    /// Whether others see that this one is writing.
    package var typing = true
    package init() {}
}

/// Hours of a day, in minutes after midnight UTC. They can contain midnight.
package struct QuietHours: Sendable, Equatable {
    package var from: Int64
    package var until: Int64
    package init(from: Int64, until: Int64) {
        self.from = from
        self.until = until
    }
}

/// Whether an account may be used.
package enum AccountState: UInt8, Sendable {
    case active = 0
    /// Closed by an operator. Its conversations stay.
    case suspended = 1
    /// Deleted by its owner. The name is never given again.
    case deleted = 2
}

/// What one user is to another one, from the owner's side.
package struct ContactRow: Sendable, Equatable {
    package var address: ContactAddress
    package var relation: ContactRelation = .none
    package var isBlocked = false
    package var alias = ""
    /// The text of the request that the relation began with.
    package var text = ""
    /// The time of the last change of the relation or the block, or 0 for one of an earlier
    /// version.
    package var at: Int64 = 0
    /// The commit of the last change of this row, set by the storage.
    package var changed: Int64 = 0

    package init(address: ContactAddress) { self.address = address }
}

/// The relation of a contact row.
package enum ContactRelation: UInt8, Sendable {
    case none = 0
    /// The owner asked the peer.
    case asked = 1
    /// The peer asked the owner.
    case requested = 2
    /// Both agreed.
    case friend = 3
}

/// A link by which a conversation can be joined.
package struct LinkRow: Sendable, Equatable {
    package var code: String
    package var conversation: ConversationKey
    package var creator: UserKey
    package var createdAt: Int64
    /// The role of those that join by the link.
    package var role: MemberRole
    /// The time from which the link is refused, or 0.
    package var expiresAt: Int64
    /// The number of joins that are left, or -1 without a limit.
    package var usesLeft: Int64
    /// The number of joins by the link.
    package var used: Int64 = 0
    /// Whether a join by this link waits for the approval of an admin.
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

/// A complaint about a user or a message, for the operators.
package struct ReportRow: Sendable, Equatable {
    package var reporter: UserKey
    package var subject: UserKey
    /// The reported message, or nil if the report concerns the user.
    package var event: EventAddress?
    package var reason: String
    /// What the reporter wrote.
    package var text: String
    package var at: Int64
    /// When an operator resolved the report, or 0.
    package var resolvedAt: Int64 = 0

    package init(reporter: UserKey, subject: UserKey, event: EventAddress?, reason: String, text: String = "", at: Int64) {
        self.reporter = reporter
        self.subject = subject
        self.event = event
        self.reason = reason
        self.text = text
        self.at = at
    }
}

/// The answer of a changing request other than `send`, kept for 7 days so that a retry gets it
/// again.
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

/// The id that a user gave to a request.
package struct RequestAddress: Hashable, Sendable {
    package let user: UserKey
    package let id: ClientID
    package init(_ user: UserKey, _ id: ClientID) {
        self.user = user
        self.id = id
    }
}

/// The id that a sender gave to a message of a conversation. Unlike other requests it is kept as
/// long as the event.
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

/// The ack of an event, as a retry receives it again.
package struct StoredAnswer: Sendable, Equatable {
    package var conversation: ConversationKey
    package var seq: Int64
    package var n: Int64
    package var at: Int64
    /// A text of the answer, such as the code of a link. Empty for most requests.
    package var text: String

    package init(conversation: ConversationKey, seq: Int64, n: Int64, at: Int64, text: String = "") {
        self.conversation = conversation
        self.seq = seq
        self.n = n
        self.at = at
        self.text = text
    }
}
