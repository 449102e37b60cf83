public import ApusChatProtocol

/// A page of a list of members.
public struct MemberPage: Sendable, Hashable {
    /// The members of this page.
    public var members: [ChatMember]
    /// The number of matching members on all pages.
    public var total: Int64
    /// The token of the next page; nil on the last page.
    public var next: PageToken?
}

extension ChatConversation {
    private var newID: ClientID { self.engine.environment.makeID() }

    // MARK: Members

    /// Returns a page of the members.
    ///
    /// - Parameters:
    ///   - query: A part of an account name or of a shown name; nil for all members.
    ///   - state: The state of the listed users. Default: `joined`. Admins can also list the users
    ///     of another state.
    ///   - page: The token that the previous page returned. Default: the first page.
    public func members(
        matching query: String? = nil, state: MemberState = .joined, after page: PageToken? = nil
    ) async throws(ChatClientError) -> MemberPage {
        let request = MembersRequest(
            conversation: self.id, query: query, state: state == .joined ? nil : state, page: page)
        let answer = try await self.engine.askPatiently(ChatVerbs.members, request)
        await self.engine.take(answer.members.map(\.user))
        return MemberPage(members: answer.members, total: answer.total, next: answer.page)
    }

    /// Adds contacts as members and invites other users.
    ///
    /// - Parameter users: The users.
    /// - Returns: The users who were invited instead of added.
    @discardableResult
    public func add(_ users: [UserName]) async throws(ChatClientError) -> [UserName] {
        try await self.engine.askPatiently(ChatVerbs.memberAdd, MemberAddRequest(id: self.newID, conversation: self.id, users: users))
            .invited
    }

    /// Accepts or declines an invitation to this conversation.
    ///
    /// - Parameter accepts: Whether the user joins.
    public func answerInvitation(accepts: Bool) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberAnswer, MemberAnswerRequest(id: self.newID, conversation: self.id, isAccepted: accepts))
    }

    /// Approves or rejects a request to join.
    ///
    /// - Parameters:
    ///   - user: The user who sent the request.
    ///   - accepts: Whether the user becomes a member. Default: `true`.
    public func approve(_ user: UserName, accepts: Bool = true) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberApprove, MemberApproveRequest(id: self.newID, conversation: self.id, user: user, isAccepted: accepts))
    }

    /// Leaves the conversation.
    public func leave() async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.memberLeave, MemberLeaveRequest(id: self.newID, conversation: self.id))
    }

    /// Removes members.
    ///
    /// - Parameter users: The members.
    public func remove(_ users: [UserName]) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberRemove, MemberUsersRequest(id: self.newID, conversation: self.id, users: users))
    }

    /// Bans users.
    ///
    /// - Parameters:
    ///   - users: The users.
    ///   - until: The end of the ban, in milliseconds since 1970. Default: the ban has no end.
    public func ban(_ users: [UserName], until: Int64? = nil) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberBan, MemberUntilRequest(id: self.newID, conversation: self.id, users: users, until: until))
    }

    /// Ends the bans of users.
    ///
    /// - Parameter users: The banned users.
    public func unban(_ users: [UserName]) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberUnban, MemberUsersRequest(id: self.newID, conversation: self.id, users: users))
    }

    /// Assigns a role to members. The role `owner` transfers the ownership.
    ///
    /// - Parameters:
    ///   - role: The new role.
    ///   - users: The members; exactly one if the role is `owner`.
    public func setRole(_ role: MemberRole, of users: [UserName]) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberRole, MemberRoleRequest(id: self.newID, conversation: self.id, users: users, role: role))
    }

    /// Revokes or restores the permission of members to write.
    ///
    /// - Parameters:
    ///   - users: The members.
    ///   - until: The time until which they may not write, in milliseconds since 1970; nil restores
    ///     the permission.
    public func mute(_ users: [UserName], until: Int64?) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.memberMute, MemberUntilRequest(id: self.newID, conversation: self.id, users: users, until: until ?? 0))
    }

    // MARK: Links

    /// Creates an invite link.
    ///
    /// - Parameters:
    ///   - role: The role of users who join by the link. Default: `member`.
    ///   - expiresAt: The time at which the link expires, in milliseconds since 1970. Default:
    ///     never.
    ///   - uses: The maximum number of joins and of requests to join by the link. Default: no
    ///     limit.
    ///   - needsApproval: Whether an admin has to approve users who join by the link. Default:
    ///     `false`.
    public func createLink(
        role: MemberRole? = nil, expiresAt: Int64? = nil, uses: Int64? = nil, needsApproval: Bool = false
    ) async throws(ChatClientError) -> InviteLink {
        let request = LinkCreateRequest(
            id: self.newID, conversation: self.id, role: role, expiresAt: expiresAt, uses: uses, needsApproval: needsApproval)
        return try await self.engine.askPatiently(ChatVerbs.linkCreate, request).link
    }

    /// Returns the invite links of the conversation, newest first.
    public func links() async throws(ChatClientError) -> [InviteLink] {
        try await self.engine.askPatiently(ChatVerbs.linkList, LinkListRequest(conversation: self.id)).links
    }

    /// Invalidates an invite link.
    ///
    /// - Parameter code: The code of the link.
    public func revoke(_ code: LinkCode) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.linkRevoke, LinkRevokeRequest(id: self.newID, conversation: self.id, code: code))
    }

    // MARK: Settings

    /// Changes properties of the conversation for all members. A nil argument leaves a property
    /// unchanged.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - about: The description; an empty text removes it.
    ///   - avatar: The picture.
    ///   - settings: The settings to change.
    public func set(
        title: String? = nil, about: String? = nil, avatar: BlobChange? = nil, settings: ConversationSettingsChange? = nil
    ) async throws(ChatClientError) {
        let request = ConversationSetRequest(
            id: self.newID, conversation: self.id, title: title, about: about, avatar: avatar, settings: settings)
        _ = try await self.engine.askPatiently(ChatVerbs.conversationSet, request)
    }

    /// Changes the user's settings for this conversation. A nil argument leaves a setting
    /// unchanged.
    ///
    /// - Parameters:
    ///   - isPinned: Whether the conversation is at the top of the list.
    ///   - isArchived: Whether the conversation is in the archive.
    ///   - mutedUntil: The time until which there are no notifications, in milliseconds since 1970;
    ///     0 restores notifications.
    ///   - notify: The messages that cause notifications while the conversation is not muted.
    ///   - isMarkedUnread: Whether the list shows the conversation as unread.
    ///   - folders: The names of the folders that contain the conversation.
    public func setOwn(
        isPinned: Bool? = nil, isArchived: Bool? = nil, mutedUntil: Int64? = nil, notify: NotificationRule? = nil,
        isMarkedUnread: Bool? = nil, folders: [String]? = nil
    ) async throws(ChatClientError) {
        let request = OwnSetRequest(
            id: self.newID, conversation: self.id, isPinned: isPinned, isArchived: isArchived, mutedUntil: mutedUntil,
            notify: notify, isMarkedUnread: isMarkedUnread, folders: folders)
        try await self.engine.setOwn(request)
    }

    /// Removes the conversation from the user's list, or deletes it for all members.
    ///
    /// - Parameter isForAll: Whether to delete it for all members, which requires the role `owner`.
    ///   Default: `false`.
    public func delete(forAll isForAll: Bool = false) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.conversationDelete, DeleteRequest(id: self.newID, conversation: self.id, isForAll: isForAll))
    }
}
