import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// Settings of a user, and relations between users. The events are in the user's self conversation,
// so that all devices of the user receive them in order.
extension BatchDecider {
    /// Changes several settings. All changes are checked before the first one is made.
    mutating func personalize(_ conversation: ConversationKey, _ changes: [OwnChange], by actor: UserKey) throws(ChatError) -> StoredAnswer
    {
        let member = try self.authorize(.personalize, actor, in: conversation)
        for change in changes { try self.check(change, of: member) }
        var answer = self.unchanged(conversation)
        for change in changes { answer = try self.personalize(conversation, change, by: actor) }
        return answer
    }

    private func check(_ change: OwnChange, of member: MemberRow) throws(ChatError) {
        switch change {
        case .pin(let isOn):
            guard isOn, member.pinnedAt == 0 else { return }
            guard (self.facts.accounts[member.address.user]?.pinnedCount ?? 0) < ChatLimits.pinnedConversations else {
                throw ChatError(.limit, message: "At most \(ChatLimits.pinnedConversations) conversations can be pinned. Unpin one.")
            }
        case .folders(let names):
            let known = self.facts.accounts[member.address.user]?.folders ?? []
            for name in names where !known.contains(where: { $0.folder.name == name }) {
                throw ChatError(.notFound, message: "There is no folder with the name `\(name)`.", field: "folders")
            }
        case .archive, .mute, .notifyMentionsOnly, .markUnread, .draft: break
        }
    }

    mutating func personalize(_ conversation: ConversationKey, _ change: OwnChange, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        let member = try self.authorize(.personalize, actor, in: conversation)
        try self.check(change, of: member)
        let address = member.address
        let (kind, body): (EventKind.Code, JSONObject)
        switch change {
        case .pin(let isOn):
            (kind, body) = (.selfPin, ["pinned_at": .integer(isOn ? self.time : 0)])
            guard (member.pinnedAt > 0) != isOn else { return self.unchanged(conversation) }
            let time = self.time
            self.facts.members.modify(address) { $0.pinnedAt = isOn ? time : 0 }
            self.facts.accounts.modify(actor) { $0.pinnedCount += isOn ? 1 : -1 }
        case .archive(let isOn):
            (kind, body) = (.selfArchive, ["archived": .bool(isOn)])
            self.facts.members.modify(address) { $0.isArchived = isOn }
        case .mute(let until):
            (kind, body) = (.selfMute, ["muted_until": .integer(max(0, until))])
            self.facts.members.modify(address) { $0.mutedUntil = max(0, until) }
        case .notifyMentionsOnly(let isOn):
            let rule = isOn ? NotificationRule.mentions : .all
            (kind, body) = (.selfMute, ["notify": .string(rule.rawValue)])
            self.facts.members.modify(address) { $0.notifiesMentionsOnly = isOn }
        case .markUnread(let isOn):
            (kind, body) = (.selfUnread, ["marked_unread": .bool(isOn)])
            self.facts.members.modify(address) { $0.isMarkedUnread = isOn }
        case .folders(let names):
            (kind, body) = (.selfFolder, ["folders": .array(names.map { .string($0) })])
            let known = self.facts.accounts[actor]?.folders ?? []
            let folders = known.filter { names.contains($0.folder.name) }.reduce(UInt64(0)) { $0 | $1.mask }
            self.facts.members.modify(address) { $0.folders = folders }
        case .draft(let text): return try self.keepDraft(text, in: member, by: actor)
        }
        self.pushes.append(.head(conversation, of: actor))
        return try self.appendToOwnLog(EventKind(kind), of: actor, body: ChangeBody.conversation(conversation, body))
    }

    /// Stores a new draft of a conversation, and removes the body of the previous draft event.
    private mutating func keepDraft(_ text: String, in member: MemberRow, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        guard let own = self.facts.accounts[actor]?.selfConversation else { throw .noUser }
        if text.isEmpty, member.draftSeq == 0 { return self.unchanged(member.address.conversation) }
        if member.draftSeq > 0 {
            self.modifyTarget(EventAddress(own, member.draftSeq)) { $0.blank(.erased) }
            self.blanks.append(EventBlank(address: EventAddress(own, member.draftSeq), state: .erased))
        }
        let id = ConversationID(number: member.address.conversation.rawValue).rawValue
        let body = text.isEmpty ? "{\"conv\":\"\(id)\"}" : "{\"conv\":\"\(id)\",\"draft\":\(text)}"
        let answer = try self.appendToOwnLog(EventKind(.selfDraft), of: actor, body: body)
        self.facts.members.modify(member.address) { $0.draftSeq = text.isEmpty ? 0 : answer.seq }
        return answer
    }

    mutating func updateProfile(_ update: ProfileUpdate, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        guard let account = self.facts.accounts[actor] else { throw .noUser }
        if case .some(.some(let avatar)) = update.avatar, !self.facts.readableBlobs.contains(BlobNeed(user: actor, blob: avatar)) {
            throw ChatError(.notFound, message: "The upload `\(avatar)` does not exist, or you may not read it.", field: "avatar")
        }
        guard (update.settings?.folders?.count ?? 0) <= ChatLimits.folders else {
            throw ChatError(.limit, message: "An account has at most \(ChatLimits.folders) folders.", field: "folders")
        }
        let quietHours = try update.settings?.quietHours(after: account.quietHours)
        let folders = update.settings?.folders.map { FolderRow.arranged($0, after: account.folders) }
        if let removed = folders?.removed, removed != 0 {
            self.folderRemovals.append(FolderRemoval(user: actor, folders: removed))
            self.facts.members.modify(where: { $0.address.user == actor && $0.folders & removed != 0 }) { $0.folders &= ~removed }
        }
        self.facts.accounts.modify(actor) { row in
            row.nickname = update.nickname ?? row.nickname
            row.about = update.about ?? row.about
            row.statusText = update.status ?? row.statusText
            row.avatar = update.avatar ?? row.avatar
            if let settings = update.settings { row.privacy.apply(settings) }
            row.folders = folders?.rows ?? row.folders
            if let quietHours { row.quietHours = quietHours.hours }
        }
        self.pushes.append(.user(actor, subject: actor))
        if self.facts.accounts[actor].map({ !$0.looks(like: account) }) ?? false { self.pushes.append(.profile(actor)) }
        return try self.appendToOwnLog(EventKind(.selfSet), of: actor, body: ChangeBody.text(ChangeBody.users([account.name])))
    }

    mutating func contact(_ peer: UserKey?, _ change: ContactChange, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        guard let peer, peer != actor, let account = self.facts.accounts[peer], account.state != .deleted else { throw .noUser }
        let mine = ContactAddress(owner: actor, peer: peer)
        let row = self.facts.contacts[mine] ?? ContactRow(address: mine)
        let body: JSONObject = ["user": .string(account.name.rawValue)]
        switch change {
        case .request(let text): return try self.requestContact(row, account.name, text)
        case .answer(let accepts):
            guard row.relation == .requested else {
                throw ChatError(.notFound, message: "There is no contact request of the user \(account.name).", field: "user")
            }
            return accepts ? try self.requestContact(row, account.name, "") : try self.contact(peer, .remove, by: actor)
        case .remove:
            guard row.relation != .none else { return self.unchanged(ConversationKey(0)) }
            self.relate(mine, .none, text: "")
            // The entry disappears from the list of the other user without an event.
            if self.facts.contacts[mine.reversed] != nil { self.relate(mine.reversed, .none, text: "") }
            self.pushes.append(.user(peer, subject: actor))
            return try self.appendToOwnLog(EventKind(.contactRemove), of: actor, body: ChangeBody.text(body))
        case .alias(let alias):
            var new = row
            new.alias = alias
            self.facts.contacts.set(mine, new)
            return try self.appendToOwnLog(
                EventKind(.contactAlias), of: actor,
                body: ChangeBody.text(["user": .string(account.name.rawValue), "alias": .string(alias)]))
        case .block(let isOn):
            guard row.isBlocked != isOn else { return self.unchanged(ConversationKey(0)) }
            guard !isOn || self.facts.contactCounts[actor, default: ContactCounts()].blocked < ChatLimits.blockedUsers else {
                throw ChatError(.limit, message: "An account can block at most \(ChatLimits.blockedUsers) users. Unblock one.")
            }
            self.facts.contactCounts[actor]?.blocked += isOn ? 1 : -1
            var new = row
            new.isBlocked = isOn
            new.at = self.time
            self.facts.contacts.set(mine, new)
            if let pair = self.facts.pairs[PairAddress(actor, peer)] {
                let seq = isOn ? max(1, self.lastSeq(of: pair)) : 0
                self.facts.members.modify(MemberAddress(pair, actor)) { $0.blockSeq = seq }
            }
            return try self.appendToOwnLog(
                EventKind(isOn ? .contactBlock : .contactUnblock), of: actor, body: ChangeBody.text(body))
        }
    }

    /// Decides a contact request. Two requests in opposite directions make the users contacts. A
    /// request to a user who blocks the sender is accepted and not delivered.
    private mutating func requestContact(_ row: ContactRow, _ name: UserName, _ text: String) throws(ChatError) -> StoredAnswer {
        let (actor, peer) = (row.address.owner, row.address.peer)
        let theirs = self.facts.contacts[row.address.reversed]
        switch row.relation {
        case .friend, .asked: return self.unchanged(ConversationKey(0))
        case .requested:
            self.relate(row.address, .friend, text: "")
            self.relate(row.address.reversed, .friend, text: "")
            try self.appendToOwnLog(EventKind(.contactAccept), of: peer, body: self.requestBody(of: actor))
            return try self.appendToOwnLog(EventKind(.contactAccept), of: actor, body: ChangeBody.text(["user": .string(name.rawValue)]))
        case .none:
            try self.checkInvitations(1, of: actor)
            guard self.facts.contactCounts[actor, default: ContactCounts()].contacts < ChatLimits.contacts else {
                throw ChatError(.limit, message: "An account has at most \(ChatLimits.contacts) contacts and requests. Remove one.")
            }
            self.countInvitations(1, of: actor)
            self.relate(row.address, .asked, text: text)
            // As with a block, the sender is not informed that the list of the other user is full.
            if theirs?.isBlocked != true, self.facts.contactCounts[peer, default: ContactCounts()].contacts < ChatLimits.contacts {
                self.relate(row.address.reversed, .requested, text: text)
                try self.appendToOwnLog(EventKind(.contactRequest), of: peer, body: self.requestBody(of: actor, text))
            }
            return try self.appendToOwnLog(EventKind(.contactRequest), of: actor, body: ChangeBody.text(["user": .string(name.rawValue)]))
        }
    }

    /// Appends a sign-in or sign-out to the user's self conversation, which notifies the other
    /// devices.
    mutating func noteDevice(_ change: DeviceChange, of user: UserKey) throws(ChatError) -> StoredAnswer {
        guard self.facts.accounts[user]?.state == .active else { return self.unchanged(ConversationKey(0)) }
        let body: JSONObject = [
            "device": .string(DeviceID(number: change.device.rawValue).rawValue), "name": .string(change.name),
            "platform": .string(change.platform),
        ]
        return try self.appendToOwnLog(EventKind(change.isAdded ? .deviceAdd : .deviceRemove), of: user, body: ChangeBody.text(body))
    }

    mutating func report(_ user: UserKey?, reason: String, text: String, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        guard let user, self.facts.accounts[user] != nil else { throw .noUser }
        self.reports.append(ReportRow(reporter: actor, subject: user, event: nil, reason: reason, text: text, at: self.time))
        return self.unchanged(ConversationKey(0))
    }

    /// Reports messages, all or none.
    mutating func report(_ events: [EventAddress], reason: String, text: String, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        var rows: [ReportRow] = []
        for event in events {
            _ = try self.authorize(.report, actor, in: event.conversation)
            let subject = try self.target(event, for: actor, includingBlank: true).sender
            rows.append(ReportRow(reporter: actor, subject: subject, event: event, reason: reason, text: text, at: self.time))
        }
        self.reports += rows
        return self.unchanged(events.first?.conversation ?? ConversationKey(0))
    }

    mutating func report(_ conversation: ConversationKey, reason: String, text: String, by actor: UserKey) throws(ChatError)
        -> StoredAnswer
    {
        _ = try self.authorize(.report, actor, in: conversation)
        self.reports.append(ReportRow(reporter: actor, conversation: conversation, reason: reason, text: text, at: self.time))
        return self.unchanged(conversation)
    }
}

extension BatchDecider {
    @discardableResult
    mutating func appendToOwnLog(_ kind: EventKind, of user: UserKey, body: String) throws(ChatError) -> StoredAnswer {
        guard let own = self.facts.accounts[user]?.selfConversation, self.facts.conversations[own] != nil else { throw .noUser }
        return self.append(kind, to: own, by: user, body: body)
    }

    private mutating func relate(_ address: ContactAddress, _ relation: ContactRelation, text: String) {
        var row = self.facts.contacts[address] ?? ContactRow(address: address)
        let change = (relation == .none ? 0 : 1) - (row.relation == .none ? 0 : 1)
        self.facts.contactCounts[address.owner]?.contacts += change
        row.relation = relation
        row.text = text
        row.at = self.time
        self.facts.contacts.set(address, row)
    }

    /// Returns the body of the event that the recipient of a request receives.
    private func requestBody(of user: UserKey, _ text: String = "") -> String {
        var body: JSONObject = ["user": .string(self.facts.accounts[user]?.name.rawValue ?? ""), "incoming": .bool(true)]
        if !text.isEmpty { body["text"] = .string(text) }
        return ChangeBody.text(body)
    }
}

/// A change of the quiet hours.
private struct QuietHoursChange {
    /// The new quiet hours; nil to remove them.
    let hours: QuietHours?
}

extension UserSettings {
    /// Returns the change of the quiet hours; nil if the settings do not contain quiet hours.
    fileprivate func quietHours(after known: QuietHours?) throws(ChatError) -> QuietHoursChange? {
        guard self.quietFrom != nil || self.quietUntil != nil else { return nil }
        guard let from = self.quietFrom ?? known?.from, let until = self.quietUntil ?? known?.until else {
            throw ChatError(.badRequest, message: "`quiet_from` and `quiet_until` must both be present.", field: "settings")
        }
        return QuietHoursChange(hours: from == until ? nil : QuietHours(from: from, until: until))
    }
}

extension AccountPrivacy {
    fileprivate mutating func apply(_ settings: UserSettings) {
        self.messages = settings.messages ?? self.messages
        self.lastSeen = settings.lastSeen ?? self.lastSeen
        self.avatar = settings.avatar ?? self.avatar
        self.add = settings.add ?? self.add
        self.find = settings.find ?? self.find
        self.receipts = settings.receipts ?? self.receipts
        self.typing = settings.typing ?? self.typing
    }
}

extension AccountRow {
    /// Returns whether other users see no difference between two versions of an account.
    fileprivate func looks(like other: Self) -> Bool {
        self.nickname == other.nickname && self.statusText == other.statusText && self.avatar == other.avatar
            && self.privacy.avatar == other.privacy.avatar && self.privacy.lastSeen == other.privacy.lastSeen
    }
}
