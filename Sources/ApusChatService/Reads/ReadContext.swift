import ApusChatProtocol
import ApusChatStorage

/// The data sources for the answers to the requests of one user.
struct ReadContext {
    let reads: any AccountReads
    let viewer: UserKey
    let names: NameCache
    let presence: PresenceBook
    let received: ReceivedBook
    /// The current time, in milliseconds since 1970.
    let now: Int64

    /// Returns the event. If it has expired, removes content that the storage still contains.
    func served(_ view: EventView) -> EventView {
        guard let row = view.row, row.expiresAt > 0, row.expiresAt <= self.now else { return view }
        var view = view
        view.row?.blank(.expired)
        view.own = nil
        return view
    }

    /// Returns the account of the viewer.
    func account() throws -> AccountRow {
        guard let row = try self.reads.accounts([self.viewer]).first, row.state == .active else { throw ChatError.accountClosed }
        return row
    }

    /// Returns the head of a conversation of the viewer.
    ///
    /// - Throws: `not_found` if the conversation is not in the viewer's list.
    func head(_ key: ConversationKey) throws -> HeadRow {
        guard let head = try self.reads.head(of: self.viewer, in: key), !head.member.isGone else { throw ChatError.noConversation }
        return head
    }

    /// Returns the row of another user's contact list that concerns the viewer; nil if there is
    /// none.
    func contact(of owner: UserKey) throws -> ContactRow? {
        let rows = try self.reads.contacts(of: owner, after: UserKey(self.viewer.rawValue - 1), limit: 1)
        return rows.first.flatMap { $0.address.peer == self.viewer ? $0 : nil }
    }
}

extension ConversationID {
    init(_ key: ConversationKey) { self.init(number: key.rawValue) }
    var key: ConversationKey { ConversationKey(self.number) }
}

extension ChatError {
    static let noConversation = ChatError(.notFound, message: "The conversation does not exist.")
    static let noMessage = ChatError(.notFound, message: "The message does not exist.")
    static let noUser = ChatError(.notFound, message: "The user does not exist.")
    static let accountClosed = ChatError(.unauthorized, message: "The account is suspended or was deleted.")
}
