package import ApusChatProtocol

/// The keys of the rows that the commands of one batch read. `ChatStorage.begin` returns them as
/// `Facts`.
///
/// Keys may be repeated. Some needs imply other needs, whose keys the commands do not contain:
/// - a conversation of kind pair implies the rows of both members;
/// - a pair implies its conversation;
/// - an account implies its self conversation;
/// - a link implies its conversation and the member row of the joining user;
/// - successors imply their member rows and accounts.
package struct Needs: Sendable {
    package var conversations: [ConversationKey] = []
    package var members: [MemberAddress] = []
    package var sends: [SendAddress] = []
    package var requests: [RequestAddress] = []
    package var events: [EventAddress] = []
    package var annotations: [AnnotationAddress] = []
    /// The events for which the batch needs the members who cannot see the event.
    package var unseen: [EventAddress] = []
    package var accounts: [UserKey] = []
    package var contacts: [ContactAddress] = []
    package var pairs: [PairAddress] = []
    package var links: [LinkNeed] = []
    package var scheduled: [ScheduledAddress] = []
    /// The accounts for which the batch needs the number of scheduled messages.
    package var scheduledCounts: [UserKey] = []
    /// The accounts for which the batch needs the numbers of contacts and blocked users.
    package var contactCounts: [UserKey] = []
    package var skips: [SkipNeed] = []
    package var blobs: [BlobNeed] = []
    /// The conversations whose owner may leave. The storage returns up to eight candidates for the
    /// next owner.
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

/// A link, and the user who joins by it.
package struct LinkNeed: Hashable, Sendable {
    package let code: String
    package let user: UserKey
    package init(code: String, user: UserKey) {
        self.code = code
        self.user = user
    }
}

/// The need for the number of messages above an ordinal that the member sent or that are hidden
/// from the member.
package struct SkipNeed: Hashable, Sendable {
    package let member: MemberAddress
    package let above: Int64
    package init(member: MemberAddress, above: Int64) {
        self.member = member
        self.above = above
    }
}

/// The need for the decision whether a user may read a blob. A user may read its own uploads and
/// the blobs of visible events.
package struct BlobNeed: Hashable, Sendable {
    package let user: UserKey
    package let blob: BlobID
    /// Whether the user must be a member of the conversation of the event. If false, a former
    /// member may also read the blobs from before the end of the membership.
    package let asMember: Bool
    package init(user: UserKey, blob: BlobID, asMember: Bool = false) {
        self.user = user
        self.blob = blob
        self.asMember = asMember
    }
}
