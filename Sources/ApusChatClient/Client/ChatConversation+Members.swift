public import ApusChatProtocol

/// A page of a list of members.
public struct MemberPage: Sendable, Hashable {
    /// The members.
    public var members: [ChatMember]
    /// The number of members that the request matches.
    public var total: Int64
    /// The position of the next page; nil on the last one.
    public var next: PageToken?
}

extension ChatConversation {
    private var newID: ClientID { self.engine.environment.makeID() }

    // MARK: Members

    /// Returns a page of the members.
    ///
    /// - Parameters:
    ///   - query: The start of a name; nil for all members.
    ///   - state: The state of the members. Default: those that have joined. Admins can also
    ///     request the others, one state at a time.
    ///   - page: The position that the page before ended at. Default: the first page.
    public func members(
        matching query: String? = nil, state: MemberState = .joined, after page: PageToken? = nil
    ) async throws(ChatClientError) -> MemberPage {
        let request = MembersRequest(
            conversation: self.id, query: query, state: state == .joined ? nil : state, page: page)
        let answer = try await self.engine.askPatiently(ChatVerbs.members, request)
        await self.engine.take(answer.members.map(\.user))
        return MemberPage(members: answer.members, total: answer.total, next: answer.page)
    }

    /// Adds contacts, and invites other users. Returns those that were invited.
    @discardableResult
    public func add(_ users: [UserName]) async throws(ChatClientError) -> [UserName] {
        try await self.engine.askPatiently(ChatVerbs.memberAdd, MemberAddRequest(id: self.newID, conversation: self.id, users: users))
            .invited
    }

    /// Accepts or declines an invitation.
    public func answerInvitation(accepts: Bool) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberAnswer, MemberAnswerRequest(id: self.newID, conversation: self.id, isAccepted: accepts))
    }

    /// Approves or rejects a request to join.
    public func approve(_ user: UserName, accepts: Bool = true) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberApprove, MemberApproveRequest(id: self.newID, conversation: self.id, user: user, isAccepted: accepts))
    }

    /// Leaves the conversation.
    public func leave() async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.memberLeave, MemberLeaveRequest(id: self.newID, conversation: self.id))
    }

    /// Removes members.
    public func remove(_ users: [UserName]) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberRemove, MemberUsersRequest(id: self.newID, conversation: self.id, users: users))
    }

    /// Bans users, for good or until a time in milliseconds since 1970.
    public func ban(_ users: [UserName], until: Int64? = nil) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberBan, MemberUntilRequest(id: self.newID, conversation: self.id, users: users, until: until))
    }

    /// Lifts bans.
    public func unban(_ users: [UserName]) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberUnban, MemberUsersRequest(id: self.newID, conversation: self.id, users: users))
    }

    /// Gives members a role. The role `owner` transfers the ownership.
    public func setRole(_ role: MemberRole, of users: [UserName]) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberRole, MemberRoleRequest(id: self.newID, conversation: self.id, users: users, role: role))
    }

    /// Takes away the right to write until a time; nil gives it back.
    public func mute(_ users: [UserName], until: Int64?) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberMute, MemberUntilRequest(id: self.newID, conversation: self.id, users: users, until: until))
    }

    // MARK: Links

    /// Creates an invite link.
    public func createLink(role: MemberRole? = nil, expiresAt: Int64? = nil, uses: Int64? = nil) async throws(ChatClientError) -> InviteLink
    {
        let request = LinkCreateRequest(id: self.newID, conversation: self.id, role: role, expiresAt: expiresAt, uses: uses)
        return try await self.engine.askPatiently(ChatVerbs.linkCreate, request).link
    }

    /// The invite links.
    public func links() async throws(ChatClientError) -> [InviteLink] {
        try await self.engine.askPatiently(ChatVerbs.linkList, LinkListRequest(conversation: self.id)).links
    }

    /// Makes an invite link void.
    public func revoke(_ code: LinkCode) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.linkRevoke, LinkRevokeRequest(id: self.newID, conversation: self.id, code: code))
    }

    // MARK: Settings

    /// Changes the title, picture, description or settings for all.
    public func set(
        title: String? = nil, about: String? = nil, avatar: BlobChange? = nil, settings: ConversationSettingsChange? = nil
    ) async throws(ChatClientError) {
        let request = ConversationSetRequest(
            id: self.newID, conversation: self.id, title: title, about: about, avatar: avatar, settings: settings)
        _ = try await self.engine.askPatiently(ChatVerbs.conversationSet, request)
    }

    /// Changes the own settings of the conversation; nil leaves a setting as it is.
    ///
    /// - Parameters:
    ///   - isPinned: Whether the conversation is at the top of the list.
    ///   - isArchived: Whether it is in the archive.
    ///   - mutedUntil: The time until which there are no notifications, in milliseconds since 1970;
    ///     0 for none.
    ///   - isMarkedUnread: Whether the list shows it as unread.
    ///   - folders: The folders that it is in.
    public func setOwn(
        isPinned: Bool? = nil, isArchived: Bool? = nil, mutedUntil: Int64? = nil, isMarkedUnread: Bool? = nil, folders: [String]? = nil
    ) async throws(ChatClientError) {
        let request = OwnSetRequest(
            id: self.newID, conversation: self.id, isPinned: isPinned, isArchived: isArchived, mutedUntil: mutedUntil,
            isMarkedUnread: isMarkedUnread, folders: folders)
        _ = try await self.engine.askPatiently(ChatVerbs.ownSet, request)
    }

    /// Removes the conversation from the own list, or for all members.
    public func delete(forAll isForAll: Bool = false) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.conversationDelete, DeleteRequest(id: self.newID, conversation: self.id, isForAll: isForAll))
    }
}
