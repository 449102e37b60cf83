import ApusChatProtocol

/// The known contacts: their aliases, and the skeletons of their names (UTS 39).
struct ContactBook: Sendable, Equatable {
    private(set) var contacts: [UserName: Contact] = [:]
    /// The contacts, by the skeletons of their account names, shown names and aliases.
    private var skeletons: [String: Set<UserName>] = [:]

    init(_ contacts: [Contact] = []) {
        for contact in contacts { self.set(contact) }
    }

    subscript(_ name: UserName) -> Contact? { self.contacts[name] }

    mutating func set(_ contact: Contact) {
        self.remove(contact.user.name)
        guard contact.state == .friend else { return }
        self.contacts[contact.user.name] = contact
        for skeleton in Self.skeletons(of: contact) { self.skeletons[skeleton, default: []].insert(contact.user.name) }
    }

    mutating func remove(_ name: UserName) {
        guard let contact = self.contacts.removeValue(forKey: name) else { return }
        for skeleton in Self.skeletons(of: contact) {
            self.skeletons[skeleton]?.remove(name)
            if self.skeletons[skeleton]?.isEmpty == true { self.skeletons[skeleton] = nil }
        }
    }

    /// Returns a contact whose account name, shown name or alias can be confused with a name of
    /// another user.
    func lookalike(of user: ChatUser) -> UserName? {
        guard self.contacts[user.name] == nil else { return nil }
        for text in [user.name.rawValue, user.nick].compactMap({ $0 }) {
            if let name = NameSkeleton.skeletons(of: text).compactMap({ self.skeletons[$0]?.min() }).min() { return name }
        }
        return nil
    }

    private static func skeletons(of contact: Contact) -> Set<String> {
        let names = [contact.user.name.rawValue, contact.user.nick, contact.alias].compactMap { $0 }
        return Set(names.flatMap(NameSkeleton.skeletons)).subtracting([""])
    }
}
