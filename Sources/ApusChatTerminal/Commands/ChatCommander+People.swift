package import ApusChatClient
package import ApusChatProtocol
import ApusEventLoop

/// A contact request or an invitation in the list of `/requests`.
package enum ChatRequest: Hashable, Sendable {
    case contact(UserName)
    case invitation(ConversationID, title: String)
}

/// The commands for members, users and contacts.
extension ChatCommander {
    func people(in call: ChatCall) async throws {
        let chat = try self.opened()
        let (name, rest) = call.named
        switch call.name {
        case .members: try await self.listMembers(chat, call.words)
        case .banned,
            .approve where call.words.isEmpty:
            let page = try await chat.members(state: call.name == .banned ? .banned : .requested)
            if page.members.isEmpty { self.say(call.name == .banned ? "No user is banned." : "There are no requests to join.", .dim) }
            for member in page.members {
                let until = member.bannedUntil.map { "  until \(self.clock.moment($0))" } ?? ""
                self.say("@\(member.user.name)\(until)", command: "/\(call.name == .banned ? "unban" : "approve") \(member.user.name)")
            }
        case .add:
            let invited = try await chat.add(try call.names.map(self.user))
            if !invited.isEmpty { self.say("Invited: \(self.list(invited))") }
        case .remove: try await chat.remove(try call.names.map(self.user))
        case .ban: try await chat.ban([try self.user(name)], until: try self.time(inHours: rest))
        case .unban: try await chat.unban([try self.user(of: call)])
        case .role:
            guard let role = MemberRole(rawValue: rest), role != .unknown else {
                throw ChatClientError(.invalidUse, message: "\(call.name.usage): the roles are owner, admin, member, reader and guest")
            }
            try await chat.setRole(role, of: [try self.user(name)])
        case .silence:
            let until = try self.time(inHours: rest) ?? self.clock.now() + 87_600 * 3_600_000
            try await chat.mute([try self.user(name)], until: until)
        case .unsilence: try await chat.mute([try self.user(of: call)], until: nil)
        case .approve: try await chat.approve(try self.user(of: call))
        case .reject: try await chat.approve(try self.user(of: call), accepts: false)
        case .leave: try await chat.leave()
        default: break
        }
    }

    private func listMembers(_ chat: ChatConversation, _ query: String) async throws {
        let isNext = self.nextMembers.map { $0.conversation == chat.id && $0.query == query } ?? false
        let page = try await chat.members(matching: query.isEmpty ? nil : query, after: isNext ? self.nextMembers?.page : nil)
        self.nextMembers = page.next.map { (chat.id, query, $0) }
        for member in page.members {
            let nick = member.user.nick.map { "  \(ChatText.harmless($0))" } ?? ""
            let muted = member.mutedUntil ?? 0 > self.clock.now() ? ", may not write" : ""
            let online = member.user.online == true ? "  online" : ""
            self.say("\(member.user.name)\(nick)  (\(member.role.rawValue)\(muted))\(online)", command: "/open \(member.user.name)")
        }
        if page.next != nil {
            self.say("\(page.total) in all; /members again shows the next page, /members NAME searches the names", .dim)
        }
    }

    // MARK: Contacts

    func contacts(_ call: ChatCall) async throws {
        let (name, rest) = call.named
        switch call.name {
        case .users: try await self.findUsers(call.words)
        case .contacts, .blocked:
            var page: PageToken?
            var count = 0
            repeat {
                let found = try await self.client.contacts(call.name == .contacts ? .friend : .blocked, after: page)
                for contact in found.contacts {
                    let user = contact.user
                    let words = [contact.alias, user.nick].compactMap { $0 }.map(ChatText.harmless).joined(separator: "  ")
                    self.say(
                        "\(user.name)  \(words)\(user.online == true ? "  online" : "")",
                        command: call.name == .contacts ? "/open \(user.name)" : "/unblock \(user.name)")
                }
                count += found.contacts.count
                page = found.contacts.isEmpty ? nil : found.next
            } while page != nil && count < Self.maximumListed
            if page != nil { self.say("The list has more users.", .dim) }
            if count == 0 { self.say(call.name == .contacts ? "No contacts." : "No user is blocked.", .dim) }
        case .contact:
            try await self.client.requestContact(try self.user(name), text: rest.isEmpty ? nil : rest)
            self.say("A contact request was sent to @\(name).")
        case .uncontact: try await self.client.removeContact(try self.user(of: call))
        case .alias: try await self.client.setAlias(rest, of: try self.user(name))
        case .block, .unblock:
            let user = try self.user(of: call)
            try await self.client.block(user, isOn: call.name == .block)
            self.say("@\(user) is \(call.name == .block ? "blocked" : "no longer blocked").")
        case .requests: try await self.listRequests()
        case .accept, .decline: try await self.answer(call)
        case .withdraw: try await self.withdraw(call.words)
        case .report: try await self.report(call)
        default: break
        }
    }

    private func findUsers(_ query: String) async throws {
        let found = try await self.client.people(matching: query.hasPrefix("@") ? String(query.dropFirst()) : query).users
        for user in found {
            let state = user.online == true ? " online" : ""
            self.say("\(user.name)  \(ChatText.harmless(user.nick ?? ""))\(state)", command: "/open \(user.name)")
        }
        if found.isEmpty { self.say("No users found.", .dim) }
    }

    private func report(_ call: ChatCall) async throws {
        var words = call.words.split(separator: " ").map(String.init)
        var reported: UserName?
        // `@chat` means the user with the name `chat`.
        let isConversation = call.seqs.isEmpty && words.first == "chat"
        if isConversation {
            words.removeFirst()
        } else if call.seqs.isEmpty, let first = words.first, ReportReason(rawValue: first) == nil {
            reported = try self.user(first.hasPrefix("@") ? String(first.dropFirst()) : first)
            words.removeFirst()
        }
        guard let reason = words.first.flatMap({ ReportReason(rawValue: $0) }), reason != .unknown else {
            let reasons = ReportReason.allCases.filter { $0 != .unknown }.map(\.rawValue).joined(separator: ", ")
            throw ChatClientError(.invalidUse, message: "\(call.name.usage): the reasons are \(reasons)")
        }
        let text = words.dropFirst().joined(separator: " ")
        if let reported {
            try await self.client.report(user: reported, reason: reason, text: text.isEmpty ? nil : text)
            return self.say("The report of @\(reported) was sent to the operator.")
        }
        if isConversation {
            try await self.client.report(in: try self.opened().id, reason: reason, text: text.isEmpty ? nil : text)
            return self.say("The report of the conversation was sent to the operator.")
        }
        let seqs = try self.targets(call, named: "message of another user") { !$0.isOwn }
        try await self.client.report(in: try self.opened().id, seqs: seqs, reason: reason, text: text.isEmpty ? nil : text)
        self.say("The report of \(seqs.map { "#\($0)" }.joined(separator: ", ")) was sent to the operator.")
    }

    // MARK: Requests

    /// Returns the contact requests and invitations that the user has not answered, with their
    /// descriptions.
    package func pendingRequests() async throws(ChatClientError) -> [(ChatRequest, words: String)] {
        var pending: [(ChatRequest, words: String)] = []
        for head in await self.client.heads where head.state == .invited {
            let title = head.title.map(ChatText.harmless) ?? "a group"
            pending.append(
                (.invitation(head.conversation, title: title), "\(title): invitation from \(head.peer.map { "@\($0.name)" } ?? "a user")"))
        }
        for contact in try await self.client.contacts(.asked).contacts {
            let text = contact.text.map { ": \"\(ChatText.harmless($0))\"" } ?? ""
            pending.append((.contact(contact.user.name), "@\(contact.user.name) asks to become a contact\(text)"))
        }
        return pending
    }

    private func listRequests() async throws {
        let pending = try await self.pendingRequests()
        self.requests = pending.map(\.0)
        for (index, request) in pending.enumerated() { self.say("\(index + 1). \(request.words)", command: "/accept \(index + 1)") }
        let own = await self.client.heads.filter { $0.state == .requested }.map(ChatText.title)
        let asked = try await self.client.contacts(.asking).contacts.map(\.user.name)
        for title in own { self.say("You asked to join \(title).", command: "/withdraw \(title)") }
        for name in asked { self.say("You asked @\(name) to become a contact.", command: "/withdraw \(name)") }
        if pending.isEmpty, own.isEmpty, asked.isEmpty { self.say("No requests.", .dim) }
    }

    /// Withdraws a request of the user to join a conversation, or to become a contact.
    private func withdraw(_ text: String) async throws {
        let name = text.hasPrefix("@") ? String(text.dropFirst()) : text
        let joining = await self.client.heads.first {
            $0.state == .requested && ($0.conversation == ConversationID(name) || ChatText.title(of: $0).lowercased() == name.lowercased())
        }
        if let joining {
            try await self.client.conversation(joining.conversation).leave()
            return self.say("The request to join \(ChatText.title(of: joining)) is withdrawn.")
        }
        guard let user = UserName(name), try await self.client.contacts(.asking).contacts.contains(where: { $0.user.name == user }) else {
            throw ChatClientError(
                .notFound, message: "you have no pending request to \(ChatText.harmless(name)); /requests lists your requests")
        }
        try await self.client.removeContact(user)
        self.say("The contact request to @\(user) is withdrawn.")
    }

    private func answer(_ call: ChatCall) async throws {
        let name = call.words.hasPrefix("@") ? String(call.words.dropFirst()) : call.words
        let accepts = call.name == .accept
        let pending = try await self.pendingRequests().map(\.0)
        let number = Self.entry(name, of: self.requests)
        let named = pending.first { request in
            switch request {
            case .contact(let user): user == UserName(name)
            case .invitation(_, let title): title.lowercased() == name.lowercased()
            }
        }
        switch number ?? named {
        case .contact(let user)?:
            try await self.client.answerContact(user, accepts: accepts)
            self.say(accepts ? "@\(user) is now a contact." : "The request of @\(user) is declined.")
        case .invitation(let id, let title)?:
            let updates = self.client.updates(bufferingPolicy: .unbounded)
            try await self.client.conversation(id).answerInvitation(accepts: accepts)
            if accepts { await Self.joined(id, updates) }
            self.say(accepts ? "You joined \(title). /open \(title) shows it." : "The invitation to \(title) is declined.")
        case nil: throw ChatClientError(.notFound, message: "there is no request from \(ChatText.harmless(name)); /requests lists them")
        }
    }

    /// Waits at most 2 seconds until the client has received the membership of the user, so that
    /// the next line can open the conversation.
    private nonisolated static func joined(_ id: ConversationID, _ updates: EventStream<ChatUpdate>) async {
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
}
