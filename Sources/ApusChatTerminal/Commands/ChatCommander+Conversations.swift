import ApusBytes
package import ApusChatClient
import ApusChatProtocol

/// Finds, creates and changes conversations.
extension ChatCommander {
    /// Returns the conversation that a number in the list, an id, a title, an alias or a user name
    /// identifies. Creates the conversation with a user if it does not exist.
    package func conversation(named name: String) async throws -> ChatConversation {
        if let known = await self.known(name) { return known }
        return try await self.conversation(with: name.hasPrefix("@") ? String(name.dropFirst()) : name)
    }

    /// Returns the joined conversation that a number in the list, an id, a title, an alias or a
    /// user name identifies; nil if neither matches.
    func known(_ name: String) async -> ChatConversation? {
        if let id = Self.entry(name, of: self.listed) { return self.client.conversation(id) }
        let heads = await self.client.heads.filter { $0.state == .joined }
        if let id = ConversationID(name), heads.contains(where: { $0.conversation == id }) { return self.client.conversation(id) }
        let wanted = name.lowercased()
        if let known = heads.first(where: {
            ChatText.title(of: $0).lowercased() == wanted || $0.peer?.name.rawValue == wanted && $0.kind == .pair
        }) {
            return self.client.conversation(known.conversation)
        }
        for head in heads where head.kind == .pair {
            guard let peer = head.peer?.name, await self.client.title(of: peer).lowercased() == wanted else { continue }
            return self.client.conversation(head.conversation)
        }
        return nil
    }

    /// Returns the conversation with the user of exactly this name. Creates the conversation if it
    /// does not exist.
    ///
    /// - Throws: An error that lists users with similar names if the user does not exist.
    private func conversation(with name: String) async throws -> ChatConversation {
        do throws(ChatClientError) {
            return try await self.client.conversation(with: name)
        } catch {
            if error.serverError?.code == .forbidden {
                throw ChatClientError(.refused, message: "\(error.message) /contact \(name) asks the user to become a contact.")
            }
            guard error.code == .notFound || error.code == .invalidUse || error.serverError?.code == .notFound else { throw error }
            let found = (try? await self.client.people(matching: name))?.users ?? []
            let names = found.prefix(5).map { "\($0.name) (\(ChatText.harmless($0.nick ?? "")))" }
            let similar = names.isEmpty ? "" : "; similar names: \(names.joined(separator: ", "))\(found.count > names.count ? ", …" : "")"
            throw ChatClientError(.notFound, message: "there is no user named \(ChatText.harmless(name))\(similar)")
        }
    }

    // MARK: New ones

    func others(_ call: ChatCall) async throws {
        switch call.name {
        case .group:
            let parts = call.words.split(separator: ":", maxSplits: 1)
            let names = parts.count > 1 ? ChatCall.names(parts[1]) : []
            guard let title = parts.first?.trimmingSpaces, !title.isEmpty, !names.isEmpty else {
                throw ChatClientError(.invalidUse, message: "\(call.name.usage): the title or the names are missing")
            }
            let conversation = try await self.client.create(.group, title: title, users: try names.map(self.user))
            self.say("Contacts are members now; other users have an invitation.")
            try await self.host?.show(conversation)
        case .channel:
            let conversation = try await self.client.create(.channel, title: call.words)
            var settings = ConversationSettingsChange()
            (settings.listed, settings.join) = (true, .open)
            try await conversation.set(settings: settings)
            self.say("The directory lists the channel; every user can join.")
            try await self.host?.show(conversation)
        case .directory:
            let found = try await self.client.directory(matching: call.words.isEmpty ? nil : call.words).conversations
            self.directory = found.map(\.conversation)
            if found.isEmpty { self.say("No groups or channels found.", .dim) }
            for (index, entry) in found.enumerated() {
                let about = entry.about.map { "  " + ChatText.shortened(ChatText.harmless($0)) } ?? ""
                self.say(
                    "\(index + 1). \(ChatText.harmless(entry.title))  (\(entry.kind.rawValue), \(ChatText.members(entry.members)))\(about)",
                    command: "/join \(index + 1)")
            }
        case .join:
            if let id = Self.entry(call.words, of: self.directory) {
                return try await self.enter(try await self.client.join(id))
            }
            // The text can be a whole link, which ends with the code.
            guard let code = LinkCode(call.words.split(separator: "/").last.map(String.init) ?? "") else {
                throw ChatClientError(
                    .invalidUse,
                    message: "\"\(ChatText.harmless(call.words))\" is neither the code of a link nor a number in the list of /directory")
            }
            try await self.enter(try await self.client.join(code))
        default: break
        }
    }

    private func enter(_ conversation: ChatConversation) async throws {
        if let head = try? await conversation.head, head.state == .requested {
            return self.say("An admin of \(ChatText.title(of: head)) has to approve the request.")
        }
        try await self.host?.show(conversation)
    }

    // MARK: Settings

    func settings(_ call: ChatCall) async throws {
        let chat = try self.opened()
        switch call.name {
        case .mute:
            if call.words == "mentions" {
                try await chat.setOwn(mutedUntil: 0, notify: .mentions)
                return self.say("Only messages that mention you are shown while another conversation is open.")
            }
            let until = try self.time(inHours: call.words) ?? self.clock.now() + 87_600 * 3_600_000
            try await chat.setOwn(mutedUntil: until)
            self.say("New messages are not shown while another conversation is open.")
        case .unmute:
            try await chat.setOwn(mutedUntil: 0, notify: .all)
            self.say("New messages are shown again.")
        case .top, .untop:
            try await chat.setOwn(isPinned: call.name == .top)
            self.say(call.name == .top ? "At the top of the list." : "No longer at the top.")
        case .archive, .unarchive:
            try await chat.setOwn(isArchived: call.name == .archive)
            self.say(call.name == .archive ? "Archived. /archived lists the archive." : "Back in the list.")
        case .unread:
            try await chat.setOwn(isMarkedUnread: true)
            self.say("Marked as unread.")
        case .delete:
            guard ["", "all"].contains(call.words) else {
                throw call.isNotValid
            }
            try await chat.delete(forAll: call.words == "all")
        case .info: try await self.info(chat)
        case .title: try await chat.set(title: call.words)
        case .about: try await chat.set(about: call.words)
        case .links:
            let links = try await chat.links()
            if links.isEmpty { self.say("No invite links.", .dim) }
            for link in links { self.say(self.words(for: link)) }
        case .link: try await self.createLink(chat, call)
        case .revoke:
            guard let code = LinkCode(call.words) else {
                throw ChatClientError(.invalidUse, message: "\"\(ChatText.harmless(call.words))\" is not the code of a link")
            }
            try await chat.revoke(code)
            self.say("The link is revoked.")
        default: try await chat.set(settings: try Self.change(call))
        }
    }

    /// Creates an invite link. The arguments are the hours, the uses, a role and `approval`, of
    /// which the last two can be at any position.
    private func createLink(_ chat: ChatConversation, _ call: ChatCall) async throws {
        var numbers = call.words.split(separator: " ").map(String.init)
        let needsApproval = numbers.contains("approval")
        let roles = numbers.compactMap { MemberRole(rawValue: $0) }.filter { [.member, .reader, .guest].contains($0) }
        numbers.removeAll { word in word == "approval" || roles.contains { $0.rawValue == word } }
        guard numbers.count <= 2, roles.count <= 1 else {
            throw call.isNotValid
        }
        let uses = try numbers.dropFirst().first.map { word throws(ChatClientError) in
            guard let uses = Int64(digits: word), uses > 0 else {
                throw ChatClientError(.invalidUse, message: "the number of uses must be greater than 0, not \(ChatText.harmless(word))")
            }
            return uses
        }
        let link = try await chat.createLink(
            role: roles.first, expiresAt: try self.time(inHours: numbers.first ?? ""), uses: uses, needsApproval: needsApproval)
        let approval = needsApproval ? " An admin approves them with /approve." : ""
        self.say("The code is \(self.words(for: link)). Others join with /join \(link.code).\(approval)")
    }

    private func words(for link: InviteLink) -> String {
        let role = link.role == .member ? "" : "for a \(link.role.rawValue), "
        let end = link.expiresAt.map { ", until \(self.clock.moment($0))" } ?? ""
        return "\(link.code)  (\(role)used \(link.used)\(link.uses.map { " of \($0)" } ?? "") times\(end))"
    }

    private static func change(_ call: ChatCall) throws(ChatClientError) -> ConversationSettingsChange {
        var change = ConversationSettingsChange()
        let invalid = call.isNotValid
        switch call.name {
        case .slow, .expire:
            guard let seconds = ChatClock.seconds(call.words) else { throw invalid }
            if call.name == .slow { change.slow = seconds } else { change.expire = seconds }
        case .write:
            guard let scope = MemberScope(rawValue: call.words), scope != .unknown else { throw invalid }
            change.write = scope
        case .set:
            let parts = call.words.split(separator: " ").map(String.init)
            guard parts.count == 2, Self.set(parts[0], parts[1], in: &change) else { throw invalid }
        case .joining:
            guard let rule = JoinRule(rawValue: call.words), rule != .unknown else { throw invalid }
            change.join = rule
        case .listed:
            guard ["yes", "no"].contains(call.words) else { throw invalid }
            change.listed = call.words == "yes"
        default: throw invalid
        }
        return change
    }

    /// Sets the setting that has a given name in the protocol.
    ///
    /// - Returns: Whether the setting and the value are known.
    private static func set(_ name: String, _ value: String, in change: inout ConversationSettingsChange) -> Bool {
        let scope = MemberScope(rawValue: value).flatMap { $0 == .unknown ? nil : $0 }
        switch name {
        case "invite": change.invite = scope
        case "manage": change.manage = scope
        case "pin": change.pin = scope
        case "mention_all": change.mentionAll = scope
        case "history": change.history = HistoryRule(rawValue: value).flatMap { $0 == .unknown ? nil : $0 }
        case "receipts": change.receipts = ["yes": true, "no": false][value]
        default: break
        }
        return !change.isEmpty
    }

    private func info(_ chat: ChatConversation) async throws {
        let info = try await chat.info()
        let head = info.head
        let kind = head.kind == .pair ? "" : "  (\(head.kind.rawValue), \(ChatText.members(head.members)), you are \(head.role.rawValue))"
        self.say(ChatText.title(of: head) + kind, .bold)
        if let about = info.about { self.say(ChatText.harmless(about)) }
        if let peer = head.peer, head.kind == .pair {
            self.say("@\(peer.name)\(peer.status.map { "  “\(ChatText.harmless($0))”" } ?? "")")
            if peer.online == true {
                self.say("online", .good)
            } else if let seen = peer.lastSeen {
                self.say("seen \(self.clock.moment(seen))")
            }
        }
        self.say("created \(self.clock.moment(info.createdAt))\(info.creator.map { " by @\($0)" } ?? "")")
        guard let settings = info.settings else { return }
        self.say("write: \(settings.write.rawValue)  join: \(settings.join.rawValue)  listed: \(settings.listed ? "yes" : "no")")
        self.say(
            "invite: \(settings.invite.rawValue)  manage: \(settings.manage.rawValue)  pin: \(settings.pin.rawValue)  "
                + "mention_all: \(settings.mentionAll.rawValue)  history: \(settings.history.rawValue)  "
                + "receipts: \(settings.receipts ? "yes" : "no")")
        if settings.slow > 0 { self.say("slow: one message in \(ChatSettingsText.time(settings.slow))") }
        if settings.expire > 0 { self.say("messages disappear after \(ChatSettingsText.time(settings.expire))") }
    }
}
