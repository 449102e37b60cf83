package import ApusChatProtocol

/// The changes of one batch. A storage writes all of them or none.
///
/// Rows are complete and replace their predecessors. A storage derives the indexes of client ids
/// and mentions from `events`. An edit does not change the index of mentions.
///
/// Removing the content of an event also removes the content of the `edit` and `preview` events
/// that refer to it. It also removes the mentions, the blob references, and the annotations of the
/// event except `isHidden`. `blanks` are applied after all other changes of events.
package struct Changes: Sendable {
    /// New events. The events of one conversation are in the order of their `seq`.
    package var events: [EventRow] = []
    /// Events of earlier batches with changed content, counts or pins.
    package var targets: [EventRow] = []
    package var blanks: [EventBlank] = []
    package var conversations: [ConversationChange] = []
    /// Folders that were removed. The removals are applied before `members` are written.
    package var folderRemovals: [FolderRemoval] = []
    package var members: [MemberRow] = []
    /// Changed annotations. Empty annotations are removed.
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
    /// The whole row if the conversation is new, or if its profile or settings changed; nil in
    /// other cases. A batch of messages therefore writes only the counters.
    package var row: ConversationRow?
    package var isNew: Bool

    package init(key: ConversationKey, counters: ConversationCounters, row: ConversationRow? = nil, isNew: Bool = false) {
        self.key = key
        self.counters = counters
        self.row = row
        self.isNew = isNew
    }
}

/// An event whose content is removed. The event retains its position in the log.
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
