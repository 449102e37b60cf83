import ApusChatProtocol

/// The rows that a batch requested, in one consistent state of the storage. The decisions of the
/// batch change the rows in place, so that each decision reads the effects of earlier commands.
package struct Facts: Sendable {
    package var conversations = FactTable<ConversationKey, ConversationRow>()
    package var members = FactTable<MemberAddress, MemberRow>()
    /// The earlier messages that were sent with the ids in `Needs.sends`.
    package var sends = FactTable<SendAddress, SentFact>()
    package var requests = FactTable<RequestAddress, RequestRow>()
    package var events = FactTable<EventAddress, EventRow>()
    package var annotations = FactTable<AnnotationAddress, AnnotationRow>()
    package var accounts = FactTable<UserKey, AccountRow>()
    package var contacts = FactTable<ContactAddress, ContactRow>()
    package var pairs = FactTable<PairAddress, ConversationKey>()
    package var links = FactTable<String, LinkRow>()
    package var scheduled = FactTable<ScheduledAddress, ScheduledRow>()
    package var scheduledCounts: [UserKey: Int] = [:]
    package var contactCounts: [UserKey: ContactCounts] = [:]
    /// The joined members from whom an event is hidden, or whose visible range begins after it; at
    /// most `maximumUnseen` + 1 members.
    package var unseen: [EventAddress: [UserKey]] = [:]
    package static let maximumUnseen = 1_000
    package var skips: [SkipNeed: Int64] = [:]
    package var readableBlobs: Set<BlobNeed> = []
    package var successors: [ConversationKey: [UserKey]] = [:]
    /// The accounts that were deleted since the storage was opened. Requests of their devices may
    /// still arrive. Every batch contains them, without a need.
    package var deletedAccounts: Set<UserKey> = []

    package init() {}

    package mutating func removeAll() {
        self.conversations.removeAll()
        self.members.removeAll()
        self.sends.removeAll()
        self.requests.removeAll()
        self.events.removeAll()
        self.annotations.removeAll()
        self.accounts.removeAll()
        self.contacts.removeAll()
        self.pairs.removeAll()
        self.links.removeAll()
        self.scheduled.removeAll()
        self.scheduledCounts.removeAll(keepingCapacity: true)
        self.contactCounts.removeAll(keepingCapacity: true)
        self.unseen.removeAll(keepingCapacity: true)
        self.skips.removeAll(keepingCapacity: true)
        self.readableBlobs.removeAll(keepingCapacity: true)
        self.successors.removeAll(keepingCapacity: true)
        self.deletedAccounts = []
    }
}

/// The numbers of contacts and blocked users of an account.
package struct ContactCounts: Sendable, Equatable {
    /// The number of contacts and of pending contact requests in both directions.
    package var contacts: Int
    package var blocked: Int

    package init(contacts: Int = 0, blocked: Int = 0) {
        self.contacts = contacts
        self.blocked = blocked
    }
}

/// An earlier message with a client id: the hash of its request, and its position.
package struct SentFact: Sendable, Equatable {
    package var hash: RequestHash
    package var seq: Int64
    package var n: Int64
    package var at: Int64

    package init(hash: RequestHash, seq: Int64, n: Int64, at: Int64) {
        self.hash = hash
        self.seq = seq
        self.n = n
        self.at = at
    }
}
