public import ApusChatProtocol

extension ChatClient {
    private var newID: ClientID { self.engine.environment.makeID() }

    // MARK: People

    /// A user as last told by the server.
    public func user(_ name: UserName) async -> ChatUser? {
        let known = await self.engine.users[name]
        if known == nil { await self.engine.want([name]) }
        return known
    }

    /// Finds users by a name, as far as the server permits it. Returns the first page.
    ///
    /// - Parameter query: An account name, or a part of a shown name.
    public func people(matching query: String) async throws(ChatClientError) -> [ChatUser] {
        try await self.people(matching: query, after: nil).users
    }

    /// Finds users by a name, as far as the server permits it.
    ///
    /// - Parameters:
    ///   - query: An account name, or a part of a shown name.
    ///   - page: The position that the page before ended at; nil for the first page.
    /// - Returns: The users, and the position of the next page; nil on the last one.
    public func people(
        matching query: String, after page: PageToken?
    ) async throws(ChatClientError) -> (users: [ChatUser], next: PageToken?) {
        let answer = try await self.engine.askPatiently(ChatVerbs.people, PeopleRequest(query: query, page: page))
        await self.engine.take(answer.users)
        return (answer.users, answer.page)
    }

    /// The name of a user as the lists show it: the alias of a contact, the shown name, or the
    /// account name.
    ///
    /// - Parameter name: The account name.
    public func title(of name: UserName) async -> String {
        let contacts = await self.engine.contacts
        if let alias = contacts[name]?.alias, !alias.isEmpty { return alias }
        return await self.engine.users[name]?.nick ?? name.rawValue
    }

    /// The contact whose name looks like that of another user, for a mark beside the user; nil if
    /// there is none. A contact itself is never marked.
    ///
    /// - Parameter user: The user.
    public func lookalike(of user: ChatUser) async -> UserName? { await self.engine.contacts.lookalike(of: user) }

    /// Returns a page of the contacts, requests and blocked users.
    public func contacts(
        _ state: ContactState? = nil, after page: PageToken? = nil
    ) async throws(ChatClientError) -> (contacts: [Contact], next: PageToken?) {
        let answer = try await self.engine.askPatiently(ChatVerbs.contacts, ContactsRequest(state: state, page: page))
        await self.engine.take(answer.contacts.map(\.user))
        return (answer.contacts, answer.page)
    }

    /// Asks a user to become a contact.
    public func requestContact(_ user: UserName, text: String? = nil, alias: String? = nil) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.contactRequest, ContactRequestRequest(id: self.newID, user: user, text: text, alias: alias))
    }

    /// Accepts or declines the request of a user.
    public func answerContact(_ user: UserName, accepts: Bool) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(
            ChatVerbs.contactAnswer, ContactAnswerRequest(id: self.newID, user: user, isAccepted: accepts))
    }

    /// Removes a contact.
    public func removeContact(_ user: UserName) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.contactRemove, ContactUserRequest(id: self.newID, user: user))
    }

    /// Gives a contact another name in the own lists; an empty one removes it.
    public func setAlias(_ alias: String, of user: UserName) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.contactAlias, ContactAliasRequest(id: self.newID, user: user, alias: alias))
    }

    /// Blocks or unblocks a user, who is not told.
    public func block(_ user: UserName, isOn: Bool = true) async throws(ChatClientError) {
        let request = ContactUserRequest(id: self.newID, user: user)
        _ = try await self.engine.askPatiently(isOn ? ChatVerbs.block : ChatVerbs.unblock, request)
    }

    /// Reports a user or messages to the operator.
    public func report(
        user: UserName? = nil, in conversation: ConversationID? = nil, seqs: [Int64] = [], reason: ReportReason, text: String? = nil
    ) async throws(ChatClientError) {
        let request = ReportRequest(id: self.newID, conversation: conversation, seqs: seqs, user: user, reason: reason, text: text)
        _ = try await self.engine.askPatiently(ChatVerbs.report, request)
    }

    // MARK: The own account

    /// Changes the own profile; nil leaves a value as it is, and an empty text removes it.
    public func setProfile(nick: String? = nil, status: String? = nil, avatar: BlobChange? = nil) async throws(ChatClientError) {
        let request = ProfileSetRequest(id: self.newID, nick: nick, avatar: avatar, status: status)
        await self.engine.take([try await self.engine.askPatiently(ChatVerbs.profileSet, request).user])
    }

    /// Returns the own settings.
    public func settings() async throws(ChatClientError) -> UserSettings {
        try await self.engine.askPatiently(ChatVerbs.settings, WireEmpty()).settings
    }

    /// Changes the own settings; nil leaves a setting as it is.
    public func set(_ settings: UserSettings) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.settingsSet, SettingsSetRequest(id: self.newID, settings: settings))
    }

    /// The devices that are signed in.
    public func devices() async throws(ChatClientError) -> [ChatDevice] {
        try await self.engine.askPatiently(ChatVerbs.devices, WireEmpty()).devices
    }

    /// Signs a device out.
    public func signOut(_ device: DeviceID) async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.deviceRemove, DeviceRemoveRequest(id: self.newID, device: device))
    }

    /// Signs all devices out but this one.
    public func signOutOthers() async throws(ChatClientError) {
        _ = try await self.engine.askPatiently(ChatVerbs.deviceRemove, DeviceRemoveRequest(id: self.newID, isOthers: true))
    }
}
