import ApusChatProtocol
import ApusChatStorage

extension ReadContext {
    /// Returns users as the viewer may see them, in the order of the keys. Omits unknown keys.
    func users(_ keys: [UserKey]) throws -> [ChatUser] {
        var rows: [UserKey: AccountRow] = [:]
        for row in try self.reads.accounts(keys) { rows[row.key] = row }
        return try keys.compactMap { key in try rows[key].map { try self.user($0) } }
    }

    func user(_ row: AccountRow) throws -> ChatUser {
        self.names.insert(row.key, row.name)
        guard row.state != .deleted else { return ChatUser(name: row.name, isDeleted: true) }
        var user = ChatUser(name: row.name, nick: row.nickname.isEmpty ? nil : row.nickname)
        let relation = try row.key == self.viewer ? nil : self.contact(of: row.key)
        guard relation?.isBlocked != true else { return user }
        user.status = row.statusText.isEmpty ? nil : row.statusText
        if self.admits(row.privacy.avatar, row, relation) { user.avatar = row.avatar }
        if self.admits(row.privacy.lastSeen, row, relation) {
            let isOnline = self.presence.isOnline(row.key)
            user.online = isOnline
            if !isOnline { user.lastSeen = try self.lastSeen(of: row.key) }
        }
        return user
    }

    /// Returns the time at which a user who is offline was last seen; nil if the user has no
    /// device.
    func lastSeen(of user: UserKey) throws -> Int64? {
        [self.presence.departure(of: user), try self.reads.devices(of: user, limit: 1).first?.seenAt].compactMap(\.self).max()
    }

    /// Returns whether an audience of a user includes the viewer.
    func admits(_ audience: Audience, _ row: AccountRow, _ relation: ContactRow?) -> Bool {
        if row.key == self.viewer { return true }
        return switch audience {
        case .all: true
        case .contacts: relation?.relation == .friend
        case .none, .unknown: false
        }
    }
}
