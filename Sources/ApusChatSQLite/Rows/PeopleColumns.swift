import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// The columns of an account, in the order of SELECT and INSERT.
enum AccountColumns {
    static let names = [
        "user", "name", "nickname", "state", "self_conversation", "privacy", "about", "status_text", "avatar", "folders",
        "invitations_today", "invitation_day", "changed", "is_erased", "quiet_from",
        "quiet_until",
    ]
    static let list = Self.names.map { "a." + $0 }.joined(separator: ", ")
    static let values = (1...Self.names.count).map { "?\($0)" }.joined(separator: ", ")
    static let assignments = Self.names.dropFirst(1).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")

    static func row(_ row: SQLiteStatement) -> AccountRow {
        var account = AccountRow(
            key: UserKey(row.int(0)), name: UserName(prepared: row.text(1)), nickname: row.text(2),
            selfConversation: ConversationKey(row.int(4)))
        account.state = UInt8(exactly: row.int(3)).flatMap(AccountState.init) ?? .suspended
        if let privacy = try? JSONValue(jsonString: row.text(5)) { account.privacy = AccountPrivacy(json: privacy) }
        account.about = row.text(6)
        account.statusText = row.text(7)
        if !row.isNull(8) { account.avatar = BlobID(row.text(8)) }
        account.folders = ListText.folders(row.text(9))
        account.invitationsToday = Int(row.count(10))
        account.invitationDay = row.int(11)
        account.changed = row.int(12)
        account.isErased = row.bool(13)
        if !row.isNull(14), !row.isNull(15) { account.quietHours = QuietHours(from: row.int(14), until: row.int(15)) }
        return account
    }

    static func bind(_ account: AccountRow, commit: Int64, to statement: SQLiteStatement) {
        statement.bind(1, account.key.rawValue)
        statement.bind(2, account.name.rawValue)
        statement.bind(3, account.nickname)
        statement.bind(4, Int64(account.state.rawValue))
        statement.bind(5, account.selfConversation.rawValue)
        statement.bind(6, ListText.json(account.privacy.json))
        statement.bind(7, account.about)
        statement.bind(8, account.statusText)
        statement.bind(9, nonEmpty: account.avatar?.rawValue ?? "")
        if account.folders.isEmpty { statement.bindNull(10) } else { statement.bind(10, ListText.text(account.folders)) }
        statement.bind(11, Int64(account.invitationsToday))
        statement.bind(12, account.invitationDay)
        statement.bind(13, commit)
        statement.bind(14, account.isErased)
        if let quiet = account.quietHours {
            statement.bind(15, quiet.from)
            statement.bind(16, quiet.until)
        } else {
            statement.bindNull(15)
            statement.bindNull(16)
        }
    }
}

extension AccountPrivacy {
    /// The settings as a JSON object. An absent field has its default value.
    fileprivate var json: JSONValue {
        [
            "messages": .string(self.messages.rawValue), "add": .string(self.add.rawValue), "last_seen": .string(self.lastSeen.rawValue),
            "avatar": .string(self.avatar.rawValue), "find": .string(self.find.rawValue), "receipts": .bool(self.receipts),
            "typing": .bool(self.typing),
        ]
    }

    fileprivate init(json: JSONValue) {
        self.init()
        /// Returns the audience in a field. An unknown value is read as the strictest audience.
        func audience(_ name: String, _ standard: Audience) -> Audience {
            json[name]?.stringValue.map { Audience(rawValue: $0) ?? .none } ?? standard
        }
        self.messages = audience("messages", self.messages)
        self.add = audience("add", self.add)
        self.lastSeen = audience("last_seen", self.lastSeen)
        self.avatar = audience("avatar", self.avatar)
        self.find = audience("find", self.find)
        self.receipts = json["receipts"]?.boolValue ?? self.receipts
        self.typing = json["typing"]?.boolValue ?? self.typing
    }
}

enum ContactColumns {
    static let list = "owner, peer, relation, is_blocked, alias, changed, text, at"

    static func row(_ row: SQLiteStatement) -> ContactRow {
        var contact = ContactRow(address: ContactAddress(owner: UserKey(row.int(0)), peer: UserKey(row.int(1))))
        contact.relation = UInt8(exactly: row.int(2)).flatMap(ContactRelation.init) ?? .none
        contact.isBlocked = row.bool(3)
        contact.alias = row.text(4)
        contact.changed = row.int(5)
        contact.text = row.text(6)
        contact.at = row.int(7)
        return contact
    }

    static func bind(_ contact: ContactRow, commit: Int64, to statement: SQLiteStatement) {
        statement.with(contact.address.owner.rawValue, contact.address.peer.rawValue, Int64(contact.relation.rawValue))
        statement.bind(4, contact.isBlocked)
        statement.bind(5, contact.alias)
        statement.bind(6, commit)
        statement.bind(7, contact.text)
        statement.bind(8, contact.at)
    }
}

enum LinkColumns {
    static let list = "code, conversation, creator, created_at, role, used, expires_at, uses_left, needs_approval, is_revoked"

    static func row(_ row: SQLiteStatement) -> LinkRow {
        var link = LinkRow(
            code: row.text(0), conversation: ConversationKey(row.int(1)), creator: UserKey(row.int(2)), createdAt: row.int(3),
            role: MemberRole(code: row.int(4)), expiresAt: row.int(6), usesLeft: row.int(7), needsApproval: row.bool(8))
        link.used = row.count(5)
        link.isRevoked = row.bool(9)
        return link
    }

    static func bind(_ link: LinkRow, to statement: SQLiteStatement) {
        statement.bind(1, link.code)
        statement.bind(2, link.conversation.rawValue)
        statement.bind(3, link.creator.rawValue)
        statement.bind(4, link.createdAt)
        statement.bind(5, link.role.code)
        statement.bind(6, link.used)
        statement.bind(7, link.expiresAt)
        statement.bind(8, link.usesLeft)
        statement.bind(9, link.needsApproval)
        statement.bind(10, link.isRevoked)
    }
}

/// The columns of the answer to a request.
enum RequestColumns {
    static let list = "hash, at, conversation, seq, n, answer_at, text"

    static func row(_ row: SQLiteStatement, at address: RequestAddress) -> RequestRow? {
        guard let hash = RequestHash(bytes: row.bytes(0)) else { return nil }
        let answer = StoredAnswer(
            conversation: ConversationKey(row.int(2)), seq: row.int(3), n: row.int(4), at: row.int(5), text: row.text(6))
        return RequestRow(address: address, hash: hash, answer: answer, at: row.int(1))
    }

    static func bind(_ request: RequestRow, to statement: SQLiteStatement) {
        statement.bind(1, request.address.user.rawValue)
        statement.bind(2, request.address.id.rawValue)
        request.hash.bind(to: statement, 3)
        statement.bind(4, request.at)
        statement.bind(5, request.answer.conversation.rawValue)
        statement.bind(6, request.answer.seq)
        statement.bind(7, request.answer.n)
        statement.bind(8, request.answer.at)
        statement.bind(9, request.answer.text)
    }
}
