package import ApusChatProtocol

/// Where the chat keeps its rows: values in, values out.
///
/// One writer at a time runs `begin`, decides on the facts, and calls `commit` or `abandon`. An
/// object is confined to one thread; a storage on disk gives each reading thread a `ChatReads` of
/// its own. `StorageSuite` states the contract as tests for every implementation.
package protocol ChatStorage: ChatReads {
    /// Begins a batch: returns the rows that it asked for, in one consistent state that stays the
    /// state of the storage until `commit` or `abandon`.
    func begin(_ needs: Needs) throws(StorageError) -> Facts

    /// Writes a batch, completely or not at all, and ends it. After it returns, the batch survives
    /// a loss of power, if the storage is one that can.
    func commit(_ changes: Changes) throws(StorageError) -> CommitStamp

    /// Ends a batch without a change. Does nothing if none was begun.
    func abandon()
}

/// The reading half of a storage.
///
/// Every answer is bounded by the `limit` of its request and belongs to one consistent state.
package protocol ChatReads: AnyObject {
    /// Runs several reads in one consistent state.
    func inSnapshot<Value>(_ body: () throws -> Value) throws -> Value

    /// The position of everything that is committed now. A sync takes it before its first page.
    func position() throws(StorageError) -> SyncPosition

    /// Returns the conversations of a user: the pinned ones in their order, then the others, newest
    /// message first. Conversations that the user left are listed, those that are gone are not.
    func heads(of user: UserKey, after cursor: HeadsCursor?, limit: Int) throws(StorageError) -> HeadsPage

    /// Returns the heads that changed for a user after `position`, in key order, with those of gone
    /// conversations (`MemberRow.isGone`). Read positions of others do not change a head.
    func changes(of user: UserKey, after position: SyncPosition, cursor: ConversationKey?, limit: Int) throws(StorageError) -> ChangesPage

    /// Returns the head of one conversation. Nil if the user has no row in it.
    func head(of user: UserKey, in conversation: ConversationKey) throws(StorageError) -> HeadRow?

    /// Returns events as a user may see them (`MemberView`), in the order of their seq.
    func events(in conversation: ConversationKey, _ selection: EventSelection, as user: UserKey, limit: Int) throws(StorageError)
        -> [EventView]

    /// Returns members in key order.
    ///
    /// - Parameter text: A part of the name or of the nickname of an active account; nil for all
    ///   members.
    func members(
        of conversation: ConversationKey, in states: MemberStates, containing text: String?, after cursor: UserKey?, limit: Int
    ) throws(StorageError) -> MembersPage

    /// Returns the joined members whose read position is at least `n`, in key order.
    func readers(of conversation: ConversationKey, atLeast n: Int64, limit: Int) throws(StorageError) -> [UserKey]

    /// Returns the users that reacted to an event, with their reactions, in key order.
    ///
    /// - Parameter key: The reaction that is looked for; nil for all.
    func reactions(to event: EventAddress, of key: String?, after cursor: UserKey?, limit: Int) throws(StorageError) -> [AnnotationRow]

    /// Returns the conversations in which a user is joined, for the router.
    func conversations(of user: UserKey) throws(StorageError) -> [ConversationKey]

    /// Returns the keys of account names, nil for those without an account.
    func userKeys(named names: [UserName]) throws(StorageError) -> [UserKey?]

    /// Returns account rows; unknown keys are left out.
    func accounts(_ keys: [UserKey]) throws(StorageError) -> [AccountRow]

    /// Returns active accounts whose name or nickname contains `text`, in key order. For chat
    /// servers with an open directory.
    func accounts(containing text: String, after cursor: UserKey?, limit: Int) throws(StorageError) -> [AccountRow]

    /// Returns the contacts of a user in key order.
    func contacts(of owner: UserKey, after cursor: UserKey?, limit: Int) throws(StorageError) -> [ContactRow]

    /// Returns the conversations that the directory lists and whose title or description contains
    /// `text`, newest first.
    func listedConversations(containing text: String, after cursor: Int64?, limit: Int) throws(StorageError) -> DirectoryPage

    /// Returns the links of a conversation, newest first.
    func links(of conversation: ConversationKey, limit: Int) throws(StorageError) -> [LinkRow]

    /// Returns a link and its conversation.
    func link(_ code: String) throws(StorageError) -> (link: LinkRow, conversation: ConversationRow)?

    /// Returns the conversation of two users, if they have one.
    func pair(_ pair: PairAddress) throws(StorageError) -> ConversationKey?

    /// Returns events whose `expiresAt` has come, oldest first.
    func expired(at time: Int64, limit: Int) throws(StorageError) -> [EventAddress]

    /// Returns polls whose `closesAt` has come and that are not closed, in the order of that time.
    func endedPolls(at time: Int64, limit: Int) throws(StorageError) -> [EventAddress]

    /// Returns the sum of the unread messages of the conversations that a user has and did not
    /// mute.
    func badge(of user: UserKey, at time: Int64) throws(StorageError) -> Int64

    /// Returns the events of a conversation before a time that still have a body, oldest first, for
    /// retention.
    func events(of conversation: ConversationKey, before time: Int64, limit: Int) throws(StorageError) -> [EventAddress]

    /// Returns the scheduled messages of a user in the order of their times.
    func scheduled(of user: UserKey, limit: Int) throws(StorageError) -> [ScheduledRow]

    /// Returns scheduled messages whose time has come and that were not refused, oldest first.
    func dueScheduled(at time: Int64, limit: Int) throws(StorageError) -> [ScheduledRow]

    /// Returns deleted conversations that still have members, in no order.
    func deletedConversations(limit: Int) throws(StorageError) -> [ConversationKey]

    /// Returns deleted accounts whose messages are not erased, in key order.
    func deletedAccounts(limit: Int) throws(StorageError) -> [UserKey]

    /// Returns every conversation in which a user has a row, also former and gone ones, in key
    /// order.
    func memberships(of user: UserKey, after cursor: ConversationKey?, limit: Int) throws(StorageError) -> [ConversationKey]

    /// Returns events of a sender that have a body, in the order of their seq.
    ///
    /// - Parameter changes: Whether changes are returned, too, and not messages alone.
    func events(of conversation: ConversationKey, by sender: UserKey, after seq: Int64, changes: Bool, limit: Int) throws(StorageError)
        -> SenderPage

    /// Returns messages that contain all words and that a user can see, newest first.
    func search(_ need: SearchNeed, as user: UserKey, limit: Int) throws(StorageError) -> SearchPage

    /// Whether a user may read a blob.
    func mayRead(_ need: BlobNeed) throws(StorageError) -> Bool
}

extension ChatReads {
    /// Returns members in key order.
    package func members(of conversation: ConversationKey, in states: MemberStates, after cursor: UserKey?, limit: Int) throws(StorageError)
        -> MembersPage
    {
        try self.members(of: conversation, in: states, containing: nil, after: cursor, limit: limit)
    }
}
