package import ApusChatProtocol

/// Stores the rows of the chat.
///
/// One writer at a time calls `begin`, decides on the facts, and calls `commit` or `abandon`. An
/// object is confined to one thread. A storage on disk provides a separate `ChatReads` for each
/// reading thread. The tests in `Tests/ApusChatStorageTests/Suite` verify every implementation of
/// this protocol.
package protocol ChatStorage: ChatReads {
    /// Begins a batch. Returns the requested rows in one consistent state, which does not change
    /// until `commit` or `abandon`.
    func begin(_ needs: Needs) throws(StorageError) -> Facts

    /// Writes a batch completely or not at all, and ends the batch. In a storage on disk, the batch
    /// survives a power failure after the method has returned. An empty batch has the number of the
    /// batch before it.
    func commit(_ changes: Changes) throws(StorageError) -> CommitStamp

    /// Ends a batch without writing it. Does nothing if no batch was begun.
    func abandon()
}

/// The reads of a storage.
///
/// Each read returns data of one consistent state, and at most `limit` values if it has this
/// parameter.
package protocol ChatReads: AnyObject {
    /// Runs several reads in one consistent state.
    func inSnapshot<Value>(_ body: () throws -> Value) throws -> Value

    /// Returns the position after the last committed batch. A sync reads the position before its
    /// first page.
    func position() throws(StorageError) -> SyncPosition

    /// Returns the conversations of a user: first the pinned conversations in their order, then the
    /// others by their newest event, latest first. Includes conversations that the user left.
    /// Excludes deleted conversations, and conversations with `MemberRow.isGone`.
    func heads(of user: UserKey, after cursor: HeadsCursor?, limit: Int) throws(StorageError) -> HeadsPage

    /// Returns the heads that changed for a user after `position`, in key order. Includes
    /// conversations that the list omits (`MemberRow.isGone`) and deleted ones. A read position of
    /// another member does not change the head.
    func changes(of user: UserKey, after position: SyncPosition, cursor: ConversationKey?, limit: Int) throws(StorageError) -> ChangesPage

    /// Returns the head of one conversation. Nil if the user has no row in it.
    func head(of user: UserKey, in conversation: ConversationKey) throws(StorageError) -> HeadRow?

    /// Returns events as a user may see them (`MemberView`), in the order of their `seq`.
    func events(in conversation: ConversationKey, _ selection: EventSelection, as user: UserKey, limit: Int) throws(StorageError)
        -> [EventView]

    /// Returns members in key order.
    ///
    /// - Parameter text: Text that the name or the nickname of an active account must contain; nil
    ///   for all members.
    func members(
        of conversation: ConversationKey, in states: MemberStates, containing text: String?, after cursor: UserKey?, limit: Int
    ) throws(StorageError) -> MembersPage

    /// Returns the joined owners and admins, in the order of their roles and keys.
    func staff(of conversation: ConversationKey, limit: Int) throws(StorageError) -> [MemberRow]

    /// Returns the joined members whose read position is at least `n`, in key order.
    func readers(of conversation: ConversationKey, atLeast n: Int64, limit: Int) throws(StorageError) -> [UserKey]

    /// Returns the users who reacted to an event, with their reactions, in key order.
    ///
    /// - Parameter key: The reaction to find; nil for all reactions.
    func reactions(to event: EventAddress, of key: String?, after cursor: UserKey?, limit: Int) throws(StorageError) -> [AnnotationRow]

    /// Returns the conversations in which a user is a joined member, for the router.
    func conversations(of user: UserKey) throws(StorageError) -> [ConversationKey]

    /// Returns the keys of account names; an element is nil if the account does not exist.
    func userKeys(named names: [UserName]) throws(StorageError) -> [UserKey?]

    /// Returns the rows of accounts. Unknown keys are omitted.
    func accounts(_ keys: [UserKey]) throws(StorageError) -> [AccountRow]

    /// Returns active accounts in key order.
    func accounts(after cursor: UserKey?, limit: Int) throws(StorageError) -> [AccountRow]

    /// Returns active accounts whose name or nickname contains `text`, in key order. Used by
    /// servers with an open directory.
    func accounts(containing text: String, after cursor: UserKey?, limit: Int) throws(StorageError) -> [AccountRow]

    /// Returns the contacts of a user in key order.
    func contacts(of owner: UserKey, after cursor: UserKey?, limit: Int) throws(StorageError) -> [ContactRow]

    /// Returns the conversations that the directory lists and whose title or description contains
    /// `text`, newest first.
    func listedConversations(containing text: String, after cursor: Int64?, limit: Int) throws(StorageError) -> DirectoryPage

    /// Returns a conversation that the directory lists; nil for other conversations.
    func listedConversation(_ key: ConversationKey) throws(StorageError) -> ConversationRow?

    /// Returns the links of a conversation that are not revoked, newest first.
    func links(of conversation: ConversationKey, limit: Int) throws(StorageError) -> [LinkRow]

    /// Returns a link and its conversation; nil if the link does not exist.
    func link(_ code: String) throws(StorageError) -> (link: LinkRow, conversation: ConversationRow)?

    /// Returns the conversation of two users; nil if it does not exist.
    func pair(_ pair: PairAddress) throws(StorageError) -> ConversationKey?

    /// Returns the events that have expired (`expiresAt`), in the order of their expiry.
    func expired(at time: Int64, limit: Int) throws(StorageError) -> [EventAddress]

    /// Returns the open polls whose `closesAt` has passed, in the order of `closesAt`.
    func endedPolls(at time: Int64, limit: Int) throws(StorageError) -> [EventAddress]

    /// Returns the total number of unread messages in the conversations of a user that are not
    /// muted.
    func badge(of user: UserKey, at time: Int64) throws(StorageError) -> Int64

    /// Returns the messages of a conversation from before a time that still have content, oldest
    /// first. The server uses it to erase deleted conversations.
    func events(of conversation: ConversationKey, before time: Int64, limit: Int) throws(StorageError) -> [EventAddress]

    /// Returns the scheduled messages of a user in the order of their times.
    func scheduled(of user: UserKey, limit: Int) throws(StorageError) -> [ScheduledRow]

    /// Returns the scheduled messages that are due and were not refused, earliest first.
    func dueScheduled(at time: Int64, limit: Int) throws(StorageError) -> [ScheduledRow]

    /// Returns the messages of running calls, unordered.
    func calls(limit: Int) throws(StorageError) -> [EventAddress]

    /// Returns deleted conversations that still have members, unordered.
    func deletedConversations(limit: Int) throws(StorageError) -> [ConversationKey]

    /// Returns deleted accounts whose messages are not completely erased, in key order.
    func deletedAccounts(limit: Int) throws(StorageError) -> [UserKey]

    /// Returns all conversations in which a user has a row, including former and removed ones, in
    /// key order.
    func memberships(of user: UserKey, after cursor: ConversationKey?, limit: Int) throws(StorageError) -> [ConversationKey]

    /// Returns events of a sender that have a body, in the order of their `seq`.
    ///
    /// - Parameter changes: Whether to return changes in addition to messages.
    func events(of conversation: ConversationKey, by sender: UserKey, after seq: Int64, changes: Bool, limit: Int) throws(StorageError)
        -> SenderPage

    /// Returns messages that contain all words and that a user can see, newest first. Without
    /// words, returns the messages of the given kinds in a conversation (`SearchNeed.isListing`).
    func search(_ need: SearchNeed, as user: UserKey, limit: Int) throws(StorageError) -> SearchPage

    /// Returns whether a user may read a blob.
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
