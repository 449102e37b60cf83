package import ApusChatProtocol

/// The changes of one batch. A storage writes all of them or none.
///
/// Rows are complete and replace their predecessors. A storage also derives its indexes from
/// `events`: the ids of sends, and the mentions, which an edit does not change.
///
/// Removing the content of an event also removes that of the events of the kinds `edit` and
/// `preview` that refer to it, and removes its mentions, its blob references, and its annotations
/// except `isHidden`. `blanks` are applied after all other changes of events.
package struct Changes: Sendable {
    /// New events. Those of one conversation are in the order of their `seq`.
    package var events: [EventRow] = []
    /// Events of earlier batches with changed content, counts or pins.
    package var targets: [EventRow] = []
    package var blanks: [EventBlank] = []
    package var conversations: [ConversationChange] = []
    /// Folders that were removed. They are applied before `members` are written.
    package var folderRemovals: [FolderRemoval] = []
    package var members: [MemberRow] = []
    /// Changed annotations. Empty ones are removed.
    package var annotations: [AnnotationRow] = []
    package var requests: [RequestRow] = []
    package var accounts: [AccountRow] = []
    package var contacts: [ContactRow] = []
    package var links: [LinkRow] = []
    package var reports: [ReportRow] = []
    /// Scheduled messages that were added or changed.
    package var scheduled: [ScheduledRow] = []
    package var unscheduled: [ScheduledAddress] = []
    package var blobReferences: [BlobReference] = []
    package var credentials = CredentialChanges()

    package init() {}

    package var isEmpty: Bool {
        self.events.isEmpty && self.targets.isEmpty && self.blanks.isEmpty && self.conversations.isEmpty
            && self.folderRemovals.isEmpty && self.members.isEmpty && self.annotations.isEmpty && self.requests.isEmpty
            && self.accounts.isEmpty && self.contacts.isEmpty
            && self.links.isEmpty && self.reports.isEmpty && self.scheduled.isEmpty && self.unscheduled.isEmpty
            && self.blobReferences.isEmpty && self.credentials.isEmpty
    }
}

/// The state of a conversation after a batch.
package struct ConversationChange: Sendable, Equatable {
    package var key: ConversationKey
    package var counters: ConversationCounters
    /// The whole row, if the conversation is new or its profile or settings changed; otherwise nil,
    /// so that a batch of messages writes the counters only.
    package var row: ConversationRow?
    package var isNew: Bool

    package init(key: ConversationKey, counters: ConversationCounters, row: ConversationRow? = nil, isNew: Bool = false) {
        self.key = key
        self.counters = counters
        self.row = row
        self.isNew = isNew
    }
}

/// An event whose content is removed. It keeps its position in the log.
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

/// The position of a committed batch in the order of all batches.
package struct CommitStamp: Sendable, Equatable {
    package var commit: Int64
    package init(commit: Int64) { self.commit = commit }
}
