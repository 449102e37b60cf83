import ApusChatCore
package import ApusChatProtocol
import ApusChatStorage

extension Accounts {
    /// The number of recovery codes of an account.
    static let recoveryCodes = 8

    /// Creates an account with its self conversation, and signs its device in.
    package func register(_ request: RegisterRequest, from client: ClientOrigin) async throws -> SessionAnswer {
        let invitation = try self.invitation(of: request)
        try self.charge(.registration, to: client.keys)
        let found = try await self.database.read { reads in
            try (key: reads.userKeys(named: [request.name]).first ?? nil, invitation: invitation.map { try reads.invitation($0) } ?? nil)
        }
        guard found.key == nil else { throw Self.taken }
        if invitation != nil { try self.check(found.invitation) }
        let password = try await self.passwords.hash(request.password, for: client)
        let now = self.clock.now()
        var account = AccountRow(
            key: UserKey(Secrets.key()), name: request.name, nickname: request.nick ?? "", selfConversation: ConversationKey(Secrets.key()))
        account.changed = 0
        let known = KnownAccount(
            account: account, credential: CredentialRow(user: account.key, password: password, passwordChangedAt: now))
        let device = self.device(request.device, of: account.key, from: client, at: now)
        let codes = (0..<Self.recoveryCodes).map { _ in Secrets.code() }
        try await self.database.write { storage in
            guard try storage.userKeys(named: [request.name]) == [nil] else { throw Self.taken }
            let row = try invitation.map { try storage.invitation($0) } ?? nil
            if invitation != nil { try self.check(row) }
            try storage.commit { changes, _ in
                Self.create(known.account, at: now, &changes)
                changes.credentials.credentials = [known.credential]
                changes.credentials.devices = [device]
                changes.credentials.codes = codes.map {
                    CodeRow(user: known.account.key, hash: Secrets.hash(ofCode: $0), purpose: .recovery)
                }
                if var row {
                    row.usesLeft -= 1
                    changes.credentials.invitations = [row]
                }
            }
        }
        return self.answer(known, device, recovery: codes)
    }

    /// Creates an invitation to create an account.
    package func makeInvitation(uses: Int64 = 1, lifetime: Int64 = 7 * 86_400_000) async throws -> String {
        let code = Secrets.code()
        let now = self.clock.now()
        let row = InvitationRow(hash: Secrets.hash(ofCode: code), createdAt: now, expiresAt: now + lifetime, usesLeft: max(1, uses))
        try await self.database.write { storage in try storage.commit { changes, _ in changes.credentials.invitations = [row] } }
        return code
    }

    static let taken = ChatError(.conflict, message: "Another account has this name. Choose another one.", field: "name")

    private func invitation(of request: RegisterRequest) throws(ChatError) -> [UInt8]? {
        switch self.configuration.registration {
        case .open: return nil
        case .invitation:
            guard let code = request.invitation else {
                throw ChatError(.forbidden, message: "`invitation` is required to create an account on this server.", field: "invitation")
            }
            return Secrets.hash(ofCode: code)
        case .closed, .unknown:
            throw ChatError(.forbidden, message: "Users cannot create accounts on this server. Ask its operators for an account.")
        }
    }

    private func check(_ invitation: InvitationRow?) throws(ChatError) {
        guard let invitation, invitation.usesLeft > 0, invitation.expiresAt > self.clock.now() || !self.clock.isTrusted() else {
            throw ChatError(.forbidden, message: "The invitation does not exist, has no uses left or has expired.", field: "invitation")
        }
    }

    static func create(_ account: AccountRow, at time: Int64, _ changes: inout Changes) {
        var row = ConversationRow(key: account.selfConversation, kind: .own, createdAt: time, settings: ConversationSettings())
        row.counters.memberCount = 1
        row.counters.lastAt = time
        changes.accounts = [account]
        changes.conversations = [ConversationChange(key: row.key, counters: row.counters, row: row, isNew: true)]
        changes.members = [MemberRow(address: MemberAddress(row.key, account.key), role: .owner, state: .joined)]
    }
}
