public import ApusChatProtocol

extension ChatClient {
    private var newID: ClientID { self.engine.environment.makeID() }

    // MARK: People

    /// Returns the profile of a user, as last received from the server. If it is not known,
    /// requests it and returns nil; a ``ChatUpdate/users(_:)`` update follows.
    ///
    /// - Parameter name: The account name.
    public func user(_ name: UserName) async -> ChatUser? {
        let known = await self.engine.users[name]
        if known == nil { await self.engine.want([name]) }
        return known
    }

    /// Returns a page of the users who match a query. The server's directory setting determines
    /// which users a search finds.
    ///
    /// - Parameters:
    ///   - query: An account name. If the directory is open, a part of an account name or of a
    ///     shown name.
    ///   - page: The token that the previous page returned; nil for the first page.
    public func people(matching query: String, after page: PageToken? = nil) async throws(ChatClientError) -> UserPage {
        let answer = try await self.engine.askPatiently(ChatVerbs.people, PeopleRequest(query: query, page: page))
        await self.engine.take(answer.users)
        return UserPage(users: answer.users, next: answer.page)
    }

    /// Returns the name under which the user's lists show another user: the alias of a contact,
    /// else the shown name, else the account name.
    ///
    /// - Parameter name: The account name.
    public func title(of name: UserName) async -> String {
        let contacts = await self.engine.contacts
        if let alias = contacts[name]?.alias, !alias.isEmpty { return alias }
        return await self.engine.users[name]?.nick ?? name.rawValue
    }

    /// Returns a contact whose name can be confused with the name of a user, for a warning. Returns
    /// nil if no contact has a similar name, or if the user is a contact.
    ///
    /// - Parameter user: The user to check.
    public func lookalike(of user: ChatUser) async -> UserName? { await self.engine.contacts.lookalike(of: user) }

    /// Returns a page of the contacts, requests and blocked users.
    ///
    /// - Parameters:
    ///   - state: The relation of the listed users. Default: all relations.
    ///   - page: The token that the previous page returned; nil for the first page.
    public func contacts(
        _ state: ContactState? = nil, after page: PageToken? = nil
    ) async throws(ChatClientError) -> ContactPage {
        let answer = try await self.engine.askPatiently(ChatVerbs.contacts, ContactsRequest(state: state, page: page))
        await self.engine.take(answer.contacts.map(\.user))
        return ContactPage(contacts: answer.contacts, next: answer.page)
    }

    /// Sends a contact request to a user.
    ///
    /// - Parameters:
    ///   - user: The user who receives the request.
    ///   - text: A text that the recipient sees with the request. Default: none.
    ///   - alias: The alias of the contact (``setAlias(_:of:)``). Default: none.
    public func requestContact(_ user: UserName, text: String? = nil, alias: String? = nil) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.contactRequest, ContactRequestRequest(id: self.newID, user: user, text: text, alias: alias))
    }

    /// Accepts or declines a contact request.
    ///
    /// - Parameters:
    ///   - user: The user who sent the request.
    ///   - accepts: Whether the user becomes a contact.
    public func answerContact(_ user: UserName, accepts: Bool) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.contactAnswer, ContactAnswerRequest(id: self.newID, user: user, isAccepted: accepts))
    }

    /// Removes a contact, or withdraws a contact request.
    ///
    /// - Parameter user: The contact.
    public func removeContact(_ user: UserName) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.contactRemove, ContactUserRequest(id: self.newID, user: user))
    }

    /// Sets the alias of a contact, the name that only this user's lists show.
    ///
    /// - Parameters:
    ///   - alias: The alias; an empty text removes it.
    ///   - user: The contact.
    public func setAlias(_ alias: String, of user: UserName) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.contactAlias, ContactAliasRequest(id: self.newID, user: user, alias: alias))
    }

    /// Blocks or unblocks a user. The user is not notified.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - isOn: Whether the user is blocked; false unblocks the user. Default: `true`.
    public func block(_ user: UserName, isOn: Bool = true) async throws(ChatClientError) {
        let request = ContactUserRequest(id: self.newID, user: user)
        _ = try await self.engine.askPatiently(isOn ? ChatVerbs.block : ChatVerbs.unblock, request)
    }

    /// Reports a user, messages or a conversation to the operators of the server.
    ///
    /// - Parameters:
    ///   - user: The reported user, for a report without messages.
    ///   - conversation: The conversation of the reported messages, or the reported conversation if
    ///     there are neither a user nor messages.
    ///   - seqs: The positions of the messages in the log.
    ///   - reason: The reason.
    ///   - text: An explanation for the operators. Default: none.
    public func report(
        user: UserName? = nil, in conversation: ConversationID? = nil, seqs: [Int64] = [], reason: ReportReason, text: String? = nil
    ) async throws(ChatClientError) {
        let request = ReportRequest(id: self.newID, conversation: conversation, seqs: seqs, user: user, reason: reason, text: text)
        _ = try await self.engine.askPatiently(ChatVerbs.report, request)
    }

    // MARK: The user's account

    /// Changes the user's profile. A nil argument leaves a property unchanged, and an empty text
    /// removes it.
    ///
    /// - Parameters:
    ///   - nick: The shown name.
    ///   - status: The status text.
    ///   - avatar: The picture.
    public func setProfile(nick: String? = nil, status: String? = nil, avatar: BlobChange? = nil) async throws(ChatClientError) {
        let request = ProfileSetRequest(id: self.newID, nick: nick, avatar: avatar, status: status)
        await self.engine.take([try await self.engine.askPatiently(ChatVerbs.profileSet, request).user])
    }

    /// Returns the user's settings.
    public func settings() async throws(ChatClientError) -> UserSettings {
        try await self.engine.askPatiently(ChatVerbs.settings, WireEmpty()).settings
    }

    /// Changes the user's settings.
    ///
    /// - Parameter settings: The new values. A nil property leaves a setting unchanged.
    public func set(_ settings: UserSettings) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.settingsSet, SettingsSetRequest(id: self.newID, settings: settings))
    }

    /// Returns the devices of the user that have a session.
    public func devices() async throws(ChatClientError) -> [ChatDevice] {
        try await self.engine.askPatiently(ChatVerbs.devices, WireEmpty()).devices
    }

    /// Returns whether a sign-in of the user needs a code of an authenticator.
    public func hasAuthenticator() async throws(ChatClientError) -> Bool {
        try await self.engine.askPatiently(ChatVerbs.devices, WireEmpty()).hasAuthenticator
    }

    /// Ends the session of another device of the user.
    ///
    /// - Parameter device: The device.
    public func signOut(_ device: DeviceID) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.deviceRemove, DeviceRemoveRequest(id: self.newID, device: device))
    }

    /// Ends the sessions of all other devices of the user.
    public func signOutOthers() async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.deviceRemove, DeviceRemoveRequest(id: self.newID, isOthers: true))
    }
}
