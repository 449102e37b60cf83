package import ApusChatProtocol

/// The state of one conversation. The counters change with every event and the other values seldom,
/// so a storage may write them separately.
package struct ConversationRow: Sendable, Equatable {
    package var key: ConversationKey
    package var kind: ConversationKind
    /// The two users of a pair; nil for other kinds.
    package var pair: PairAddress?
    package var createdAt: Int64
    package var counters: ConversationCounters
    package var profile: ConversationProfile
    package var settings: ConversationSettings
    /// The commit of the last change of this row, set by the storage.
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

/// The numbers of a conversation, which are written once for each batch.
package struct ConversationCounters: Sendable, Equatable {
    /// The `seq` of the last event, or 0.
    package var lastSeq: Int64 = 0
    /// The ordinal of the last message, or 0.
    package var lastN: Int64 = 0
    /// The time of the newest event that moves the conversation up in lists, in milliseconds since
    /// 1970.
    package var lastAt: Int64 = 0
    /// The `seq` of that event, which the preview shows, or 0. It is a message, or a change of
    /// members or settings, but not a change of a message.
    package var previewSeq: Int64 = 0
    /// The number of joined members.
    package var memberCount: Int = 0
    /// The `seq` of the running call, or 0.
    package var callSeq: Int64 = 0
    /// The number of pinned messages, for the limit.
    package var pinCount: Int = 0
    /// The number of links that are not revoked, for the limit.
    package var linkCount: Int = 0
    /// Incremented by every change of the member list.
    package var membersVersion: Int64 = 0
    /// Incremented with each member that joins or leaves (reserved for `if_epoch`).
    package var epoch: Int64 = 0
    /// Whether the conversation was deleted for all members.
    package var isDeleted = false
    package init() {}
}

/// The properties of a group or channel that members see.
package struct ConversationProfile: Sendable, Equatable {
    package var title = ""
    package var about = ""
    package var avatar: BlobID?
    package init() {}
}
