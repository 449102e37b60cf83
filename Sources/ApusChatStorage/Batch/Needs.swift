package import ApusChatProtocol

/// The keys that the commands of one batch read. `ChatStorage.begin` answers with `Facts`.
///
/// Keys may repeat. Some needs imply others, because their commands cannot know the keys:
/// - a conversation of kind pair brings both of its members;
/// - a pair brings its conversation;
/// - an account brings its self conversation;
/// - a link brings its conversation and the member row of the joining user;
/// - successors bring their members and accounts.
package struct Needs: Sendable {
    package var conversations: [ConversationKey] = []
    package var members: [MemberAddress] = []
    package var sends: [SendAddress] = []
    package var requests: [RequestAddress] = []
    package var events: [EventAddress] = []
    package var annotations: [AnnotationAddress] = []
    /// The events of which the batch needs the members that do not see them.
    package var unseen: [EventAddress] = []
    package var accounts: [UserKey] = []
    package var contacts: [ContactAddress] = []
    package var pairs: [PairAddress] = []
    package var links: [LinkNeed] = []
    package var scheduled: [ScheduledAddress] = []
    /// The accounts of which the batch needs the number of scheduled messages.
    package var scheduledCounts: [UserKey] = []
    /// The accounts of which the batch needs the numbers of contacts and blocked users.
    package var contactCounts: [UserKey] = []
    package var skips: [SkipNeed] = []
    package var blobs: [BlobNeed] = []
    /// The conversations whose owner may leave: the storage names up to eight successors.
    package var successors: [ConversationKey] = []

    package init() {}

    package mutating func removeAll() {
        self.conversations.removeAll(keepingCapacity: true)
        self.members.removeAll(keepingCapacity: true)
        self.sends.removeAll(keepingCapacity: true)
        self.requests.removeAll(keepingCapacity: true)
        self.events.removeAll(keepingCapacity: true)
        self.annotations.removeAll(keepingCapacity: true)
        self.unseen.removeAll(keepingCapacity: true)
        self.accounts.removeAll(keepingCapacity: true)
        self.contacts.removeAll(keepingCapacity: true)
        self.pairs.removeAll(keepingCapacity: true)
        self.links.removeAll(keepingCapacity: true)
        self.scheduled.removeAll(keepingCapacity: true)
        self.scheduledCounts.removeAll(keepingCapacity: true)
        self.contactCounts.removeAll(keepingCapacity: true)
        self.skips.removeAll(keepingCapacity: true)
        self.blobs.removeAll(keepingCapacity: true)
        self.successors.removeAll(keepingCapacity: true)
    }
}

/// A link, and the user that wants to join by it.
package struct LinkNeed: Hashable, Sendable {
    package let code: String
    package let user: UserKey
    package init(code: String, user: UserKey) {
        self.code = code
        self.user = user
    }
}

/// The number of own and hidden messages of a member above an ordinal.
package struct SkipNeed: Hashable, Sendable {
    package let member: MemberAddress
    package let above: Int64
    package init(member: MemberAddress, above: Int64) {
        self.member = member
        self.above = above
    }
}

/// Whether a user may read a blob, by an upload or by a conversation that refers to it.
package struct BlobNeed: Hashable, Sendable {
    package let user: UserKey
    package let blob: BlobID
    package init(user: UserKey, blob: BlobID) {
        self.user = user
        self.blob = blob
    }
}
