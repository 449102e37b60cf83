import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

extension VerbTable {
    mutating func addPeople(_ settings: VerbSettings) {
        self.read(ChatVerbs.users) { request, context in
            let keys = try context.names.keys(of: request.names, context.reads)
            return UsersAnswer(users: try context.users(keys.compactMap { $0 }))
        }
        self.read(ChatVerbs.people, rate: .search) { [directory = settings.directory] request, context in
            try context.people(request, directory)
        }
        self.read(ChatVerbs.contacts) { request, context in try context.contacts(request) }
        self.change(ChatVerbs.contactRequest) { request, requester in
            let identity = try ChatVerbs.contactRequest.identity(of: request)
            return Change(
                names: [request.user],
                commands: { keys, _ in
                    let ask = requester.command(.contact(keys[0], .request(text: request.text ?? "")), identity)
                    guard let alias = request.alias, !alias.isEmpty else { return [ask] }
                    return [requester.command(.contact(keys[0], .alias(alias)), nil), ask]
                },
                answer: .place { ChangeAnswer($0, id: request.id).json })
        }
        self.change(ChatVerbs.contactAnswer, names: { [$0.user] }) { request, keys in
            .contact(keys[0], .answer(accepts: request.isAccepted))
        }
        self.change(ChatVerbs.contactRemove, names: { [$0.user] }) { _, keys in .contact(keys[0], .remove) }
        self.change(ChatVerbs.contactAlias, names: { [$0.user] }) { request, keys in .contact(keys[0], .alias(request.alias)) }
        self.change(ChatVerbs.block, names: { [$0.user] }) { _, keys in .contact(keys[0], .block(true)) }
        self.change(ChatVerbs.unblock, names: { [$0.user] }) { _, keys in .contact(keys[0], .block(false)) }
        self.change(ChatVerbs.report) { request, requester in
            let identity = try ChatVerbs.report.identity(of: request)
            let (reason, text) = (request.reason.rawValue, request.text ?? "")
            return Change(
                names: request.user.map { [$0] } ?? [],
                commands: { keys, _ in
                    let action: Command.Action =
                        if let conversation = request.conversation, !request.seqs.isEmpty {
                            .report(
                                user: nil, events: request.seqs.map { EventAddress(conversation.key, $0) }, reason: reason, text: text)
                        } else if let conversation = request.conversation, request.user == nil {
                            .report(user: nil, conversation: conversation.key, reason: reason, text: text)
                        } else {
                            .report(user: keys.first ?? nil, reason: reason, text: text)
                        }
                    return [requester.command(action, identity)]
                },
                answer: .place { _ in WireEmpty().json })
        }
    }
}

extension ReadContext {
    fileprivate func people(_ request: PeopleRequest, _ directory: VerbSettings.Directory) throws -> UsersAnswer {
        switch directory {
        case .exactNames:
            let text = request.query.hasPrefix("@") ? String(request.query.dropFirst()) : request.query
            guard let name = UserName(text), let key = try self.names.keys(of: [name], self.reads)[0],
                let row = try self.reads.accounts([key]).first, row.state == .active, try self.finds(row)
            else { return UsersAnswer(users: []) }
            return UsersAnswer(users: [try self.user(row)])
        case .open:
            let text = request.query.hasPrefix("@") ? String(request.query.dropFirst()) : request.query
            let cursor = try PageText.key(request.page).map { UserKey($0) }
            let rows = text.isEmpty ? [] : try self.reads.accounts(containing: text, after: cursor, limit: ChatLimits.usersPage)
            let page = rows.count == ChatLimits.usersPage ? try rows.last.map { try PageText.token(after: $0.key.rawValue) } : nil
            return UsersAnswer(users: try rows.filter { try self.finds($0) }.map { try self.user($0) }, page: page)
        }
    }

    private func finds(_ row: AccountRow) throws -> Bool {
        let relation = try self.contact(of: row.key)
        return relation?.isBlocked != true && self.admits(row.privacy.find, row, relation)
    }

    fileprivate func contacts(_ request: ContactsRequest) throws -> ContactsAnswer {
        let cursor = try PageText.key(request.page).map { UserKey($0) }
        let limit = ChatLimits.usersPage
        let rows = try self.reads.contacts(of: self.viewer, after: cursor, limit: limit)
        var accounts: [UserKey: AccountRow] = [:]
        for account in try self.reads.accounts(rows.map(\.address.peer)) { accounts[account.key] = account }
        let contacts = try rows.compactMap { row -> Contact? in
            guard let state = row.state, request.state == nil || request.state == state, let account = accounts[row.address.peer] else {
                return nil
            }
            return Contact(
                user: try self.user(account), state: state, alias: row.alias.isEmpty ? nil : row.alias,
                text: row.text.isEmpty ? nil : row.text, at: row.at)
        }
        let page = rows.count == limit ? try rows.last.map { try PageText.token(after: $0.address.peer.rawValue) } : nil
        return ContactsAnswer(contacts: contacts, page: page)
    }
}

extension ContactRow {
    fileprivate var state: ContactState? {
        if self.isBlocked { return .blocked }
        return switch self.relation {
        case .friend: .friend
        case .asked: .asking
        case .requested: .asked
        case .none: nil
        }
    }
}
