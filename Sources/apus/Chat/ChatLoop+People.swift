import ApusChatClient
import ApusChatProtocol
import Foundation

/// Users, contacts, groups and their members.
extension ChatLoop {
    func performAboutPeople(_ line: ChatLine) async throws {
        switch line {
        case .users(let query): try await self.users(query)
        case .new(let title, let names): try await self.group(title, names)
        case .members(let query): try await self.members(query)
        case .add(let names):
            let invited = try await self.opened().add(try names.map(Self.name))
            if !invited.isEmpty { self.output.line("Invited: \(invited.map { "@\($0)" }.joined(separator: ", "))") }
        case .remove(let names): try await self.opened().remove(try names.map(Self.name))
        case .leave: try await self.opened().leave()
        case .mute(let hours): try await self.mute(hours)
        case .requests: try await self.listRequests()
        case .answer(let name, let accepts): try await self.answer(name, accepts: accepts)
        case .contact(let name, let text):
            try await self.client.requestContact(try Self.name(name), text: text)
            self.output.line("A contact request was sent to @\(name).")
        case .block(let name, let isOn):
            try await self.client.block(try Self.name(name), isOn: isOn)
            self.output.line("@\(name) is \(isOn ? "blocked" : "no longer blocked").")
        default: break
        }
    }

    private static func name(_ text: String) throws(ChatClientError) -> UserName {
        guard let name = UserName(text) else { throw ChatClientError(.badInput, message: "\"\(text)\" is not a user name") }
        return name
    }

    private func users(_ query: String) async throws {
        let found = try await self.client.people(matching: query.hasPrefix("@") ? String(query.dropFirst()) : query)
        for user in found {
            let state = user.online == true ? self.output.styled(" online", .green) : ""
            self.output.line("\(user.name)  \(ChatOutput.harmless(user.nick ?? ""))\(state)")
        }
        if found.isEmpty { self.output.note("No users found.", .dim) }
    }

    private func group(_ title: String, _ names: [String]) async throws {
        let users = try names.map(Self.name)
        let conversation = try await self.client.create(.group, title: title, users: users)
        self.output.line("Contacts are members now; other users have an invitation.")
        try await self.show(conversation)
    }

    private func members(_ query: String?) async throws {
        let page = try await self.opened().members(matching: query)
        for member in page.members {
            let nick = member.user.nick.map { "  \(ChatOutput.harmless($0))" } ?? ""
            let state = member.state == .joined ? "" : ", \(member.state.rawValue)"
            self.output.line("\(member.user.name)\(nick)  (\(member.role.rawValue)\(state))")
        }
        if page.total > Int64(page.members.count) {
            self.output.note("\(page.total) in all; /members NAME finds by the start of a name", .dim)
        }
    }

    private func mute(_ hours: Int?) async throws {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let until: Int64 = hours == 0 ? 0 : now + Int64(hours ?? 87_600) * 3_600_000
        try await self.opened().setOwn(mutedUntil: until)
        self.output.line(hours == 0 ? "New messages are shown again." : "New messages are not shown while another conversation is open.")
    }

    // MARK: Requests

    /// The contact requests and invitations that wait for an answer.
    private func pendingRequests() async throws(ChatClientError) -> [(Request, words: String)] {
        var pending: [(Request, words: String)] = []
        for head in await self.client.heads where head.state == .invited {
            let title = head.title.map(ChatOutput.harmless) ?? "a group"
            pending.append(
                (.invitation(head.conversation, title: title), "\(title): invitation from \(head.peer.map { "@\($0.name)" } ?? "a user")"))
        }
        for contact in try await self.client.contacts(.asked).contacts {
            let text = contact.text.map { ": \"\(ChatOutput.harmless($0))\"" } ?? ""
            pending.append((.contact(contact.user.name), "@\(contact.user.name) asks to become a contact\(text)"))
        }
        return pending
    }

    /// Tells how many requests wait, when there is a connection.
    func tellRequests() async {
        guard self.isOnline, let pending = try? await self.pendingRequests(), !pending.isEmpty else { return }
        self.output.note("✉ \(pending.count) request\(pending.count == 1 ? " waits" : "s wait") for an answer; /requests", .yellow)
    }

    private func listRequests() async throws {
        let pending = try await self.pendingRequests()
        self.requests = pending.map(\.0)
        if pending.isEmpty { self.output.note("No requests.", .dim) }
        for (index, request) in pending.enumerated() { self.output.line("\(index + 1). \(request.words)") }
    }

    private func answer(_ name: String, accepts: Bool) async throws {
        let pending = try await self.pendingRequests().map(\.0)
        let number = Int(name).flatMap { self.requests.indices.contains($0 - 1) ? self.requests[$0 - 1] : nil }
        let named = pending.first { request in
            switch request {
            case .contact(let user): user == UserName(name)
            case .invitation(_, let title): title.lowercased() == name.lowercased()
            }
        }
        switch number ?? named {
        case .contact(let user)?:
            try await self.client.answerContact(user, accepts: accepts)
            self.output.line(accepts ? "@\(user) is now a contact." : "The request of @\(user) is declined.")
        case .invitation(let id, let title)?:
            let updates = self.client.updates
            try await self.client.conversation(id).answerInvitation(accepts: accepts)
            if accepts { await Self.joined(id, updates) }
            self.output.line(accepts ? "You joined \(title). /open \(title) shows it." : "The invitation to \(title) is declined.")
        case nil: throw ChatClientError(.notFound, message: "there is no request of \(name); /requests lists them")
        }
    }

    /// Waits a short time until the client knows that the user is a member, so that the next line
    /// can open the conversation.
    private nonisolated static func joined(_ id: ConversationID, _ updates: AsyncStream<ChatUpdate>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await case .heads(let heads) in updates where heads.contains(where: { $0.conversation == id && $0.state == .joined }) {
                    return
                }
            }
            group.addTask { try? await Task.sleep(for: .seconds(2)) }
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: Users by name

    /// Returns the conversation with the user of exactly this name.
    /// - Throws: An error that lists users with similar names if there is no such user.
    func conversation(with name: String) async throws -> ChatConversation {
        do throws(ChatClientError) {
            return try await self.client.conversation(with: name)
        } catch {
            if error.serverError?.code == .forbidden {
                throw ChatClientError(.refused, message: "\(error.message) /contact \(name) asks the user to become a contact.")
            }
            guard error.code == .notFound || error.code == .badInput else { throw error }
            let found = (try? await self.client.people(matching: name)) ?? []
            let names = found.prefix(5).map { "\($0.name) (\(ChatOutput.harmless($0.nick ?? "")))" }
            let similar = names.isEmpty ? "" : "; similar names: \(names.joined(separator: ", "))\(found.count > names.count ? ", …" : "")"
            throw ChatClientError(.notFound, message: "there is no user named \(ChatOutput.harmless(name))\(similar)")
        }
    }
}
