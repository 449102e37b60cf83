import ApusChatProtocol

extension ChatEngine {
    /// Requests all contacts, to show their aliases and to detect users who imitate their names.
    func loadContacts() {
        guard self.state == .online, !self.isLoadingContacts else { return }
        self.isLoadingContacts = true
        self.start { await self.requestContacts() }
    }

    private func requestContacts() async {
        defer { self.isLoadingContacts = false }
        var contacts: [Contact] = []
        var page: PageToken?
        repeat {
            guard let answer = try? await self.ask(ChatVerbs.contacts, ContactsRequest(state: .friend, page: page)) else { return }
            contacts += answer.contacts
            page = answer.contacts.isEmpty ? nil : answer.page
        } while page != nil && contacts.count < ChatLimits.contacts
        let book = ContactBook(contacts)
        self.take(contacts.map(\.user))
        guard book != self.contacts else { return }
        self.contacts = book
        self.storing { () throws(ChatClientError) in try self.store.save(contacts: contacts) }
        self.broadcaster.yield(.users(contacts.map(\.user)))
    }
}
