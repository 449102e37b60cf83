package import ApusChatProtocol

/// The state of one conversation. A storage can write the counters separately, because they change
/// with every event and the other values change rarely.
package struct ConversationRow: Sendable, Equatable {
    package var key: ConversationKey
    package var kind: ConversationKind
    /// The two users of a pair; nil for other kinds.
    package var pair: PairAddress?
    package var createdAt: Int64
    package var counters: ConversationCounters
    package var profile: ConversationProfile
    package var settings: ConversationSettings
    /// The number of the batch that last changed this row. The storage sets it.
    package var changed: Int64 = 0

    package init(
        key: ConversationKey, kind: ConversationKind, pair: PairAddress? = nil, createdAt: Int64, settings: ConversationSettings,
        profile: ConversationProfile = ConversationProfile()
    ) {
        self.key = key
        self.kind = kind
        self.pair = pair
        self.createdAt = createdAt
        self.counters = ConversationCounters()
        self.profile = profile
        self.settings = settings
        self.counters.lastAt = createdAt
    }
}

/// The counters of a conversation, which are written once for each batch.
package struct ConversationCounters: Sendable, Equatable {
    /// The `seq` of the last event; 0 for an empty log.
    package var lastSeq: Int64 = 0
    /// The ordinal of the last message; 0 before the first message.
    package var lastN: Int64 = 0
    /// The time of the newest event that moves the conversation up in lists, in milliseconds since
    /// 1970.
    package var lastAt: Int64 = 0
    /// The `seq` of the event that the preview shows; 0 for no preview. It is the newest message
    /// or change of members or settings, but never a change of a message.
    package var previewSeq: Int64 = 0
    /// The number of joined members.
    package var memberCount: Int = 0
    /// The `seq` of the running call; 0 if no call is running.
    package var callSeq: Int64 = 0
    /// The number of pinned messages, which `ChatLimits.pinnedMessages` limits.
    package var pinCount: Int = 0
    /// The number of links that are not revoked, which `ChatLimits.links` limits.
    package var linkCount: Int = 0
    /// The version of the member list. Each change of the list increments it.
    package var membersVersion: Int64 = 0
    /// A number that increases with each member who joins or leaves. Reserved for `if_epoch`.
    package var epoch: Int64 = 0
    /// Whether the conversation was deleted for all members.
    package var isDeleted = false
    package init() {}
}

/// The properties of a group or channel that its members see.
package struct ConversationProfile: Sendable, Equatable {
    package var title = ""
    package var about = ""
    package var avatar: BlobID?
    package init() {}
}
