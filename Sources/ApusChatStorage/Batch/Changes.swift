package import ApusChatProtocol

/// Everything that one batch writes. A storage writes all of it or nothing.
///
/// Rows are complete and replace their predecessors. From `events` a storage also derives its own
/// indexes: the ids of sends, the mentions (an edit does not change them).
///
/// Blanking an event also blanks its edits (the events of kind `edit` that refer to it) and removes
/// its mentions, its blob references, and its annotations except `isHidden`. `blanks` apply last of
/// all that concerns events.
package struct Changes: Sendable {
    /// New events; those of one conversation are in the order of their seq.
    package var events: [EventRow] = []
    /// Events of earlier batches with new content, tallies or pins.
    package var targets: [EventRow] = []
    package var blanks: [EventBlank] = []
    package var conversations: [ConversationChange] = []
    package var members: [MemberRow] = []
    /// Empty annotations are removed.
    package var annotations: [AnnotationRow] = []
    package var requests: [RequestRow] = []
    package var accounts: [AccountRow] = []
    package var contacts: [ContactRow] = []
    package var links: [LinkRow] = []
    package var reports: [ReportRow] = []
    /// Scheduled messages that are added or changed, and those that are removed.
    package var scheduled: [ScheduledRow] = []
    package var unscheduled: [ScheduledAddress] = []
    package var blobReferences: [BlobReference] = []
    package var credentials = CredentialChanges()

    package init() {}

    package var isEmpty: Bool {
        self.events.isEmpty && self.targets.isEmpty && self.blanks.isEmpty && self.conversations.isEmpty && self.members.isEmpty
            && self.annotations.isEmpty && self.requests.isEmpty && self.accounts.isEmpty && self.contacts.isEmpty
            && self.links.isEmpty && self.reports.isEmpty && self.scheduled.isEmpty && self.unscheduled.isEmpty
            && self.blobReferences.isEmpty && self.credentials.isEmpty
    }
}

/// A conversation as a batch leaves it.
package struct ConversationChange: Sendable, Equatable {
    package var key: ConversationKey
    package var counters: ConversationCounters
    /// The whole row if the conversation is new or its settings changed; else nil, so that a batch
    /// of messages writes numbers only.
    package var row: ConversationRow?
    package var isNew: Bool

    package init(key: ConversationKey, counters: ConversationCounters, row: ConversationRow? = nil, isNew: Bool = false) {
        self.key = key
        self.counters = counters
        self.row = row
        self.isNew = isNew
    }
}

/// An event that loses its content and keeps its place.
package struct EventBlank: Sendable, Equatable {
    package var address: EventAddress
    package var state: EventState

    package init(address: EventAddress, state: EventState) {
        self.address = address
        self.state = state
    }
}

/// An event that refers to a blob.
package struct BlobReference: Sendable, Equatable {
    package var event: EventAddress
    package var blob: BlobID

    package init(event: EventAddress, blob: BlobID) {
        self.event = event
        self.blob = blob
    }
}

/// The place of a committed batch in the order of all batches.
package struct CommitStamp: Sendable, Equatable {
    package var commit: Int64
    package init(commit: Int64) { self.commit = commit }
}
