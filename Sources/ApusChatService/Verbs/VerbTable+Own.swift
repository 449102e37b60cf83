import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// Settings of the requesting user.
extension VerbTable {
    mutating func addOwn() {
        self.change(ChatVerbs.ownSet) { request, requester in
            let identity = try ChatVerbs.ownSet.identity(of: request)
            let changes = request.changes
            guard let last = changes.last else { throw ChatError(.badRequest, message: "At least one setting must be present.") }
            let key = request.conversation.key
            // Each setting is written as a complete value, so that a repetition of the commands
            // before the last one has no effect.
            let commands =
                changes.dropLast().map { requester.command(.personalize(key, $0), nil) } + [
                    requester.command(.personalize(key, last), identity)
                ]
            return Change(commands: { _, _ in commands }, answer: .place { ChangeAnswer($0, id: request.id).json })
        }
        self.change(ChatVerbs.draft) { request, _ in
            var draft: JSONObject = ["text": .string(request.text)]
            if let ref = request.ref { draft["ref"] = .integer(ref) }
            return .personalize(request.conversation.key, .draft(request.text.isEmpty ? "" : try JSONValue.object(draft).jsonString()))
        }
        self.read(ChatVerbs.settings) { _, context in
            let account = try context.account()
            let privacy = account.privacy
            return SettingsAnswer(
                settings: UserSettings(
                    messages: privacy.messages, lastSeen: privacy.lastSeen, avatar: privacy.avatar, add: privacy.add, find: privacy.find,
                    receipts: privacy.receipts, typing: privacy.typing, quietFrom: account.quietHours?.from,
                    quietUntil: account.quietHours?.until, folders: account.folders.map(\.folder)))
        }
        self.change(ChatVerbs.settingsSet) { request, requester in
            let identity = try ChatVerbs.settingsSet.identity(of: request)
            return Change(
                needsReads: true,
                commands: { _, context in
                    var update = ProfileUpdate()
                    let account = try context?.account()
                    update.privacy = account?.privacy.applying(request.settings)
                    update.folders = request.settings.folders
                    update.quietHours = try account.flatMap { try request.settings.quietHours(after: $0.quietHours) }
                    return [requester.command(.updateProfile(update), identity)]
                },
                answer: .place { ChangeAnswer($0, id: request.id).json })
        }
        self.change(ChatVerbs.profileSet) { request, requester in
            let identity = try ChatVerbs.profileSet.identity(of: request)
            var update = ProfileUpdate()
            update.nickname = request.nick
            update.status = request.status
            if let avatar = request.avatar { update.avatar = .some(avatar.blob) }
            let command = requester.command(.updateProfile(update), identity)
            return Change(
                commands: { _, _ in [command] },
                answer: .reading { _, context in UserAnswer(user: try context.user(context.account())).json })
        }
    }
}

extension OwnSetRequest {
    fileprivate var changes: [OwnChange] {
        var changes: [OwnChange] = []
        if let isPinned = self.isPinned { changes.append(.pin(isPinned)) }
        if let isArchived = self.isArchived { changes.append(.archive(isArchived)) }
        if let mutedUntil = self.mutedUntil { changes.append(.mute(until: mutedUntil)) }
        if let notify = self.notify { changes.append(.notifyMentionsOnly(notify == .mentions)) }
        if let isMarkedUnread = self.isMarkedUnread { changes.append(.markUnread(isMarkedUnread)) }
        if let folders = self.folders { changes.append(.folders(folders)) }
        return changes
    }
}

extension UserSettings {
    /// Returns the new quiet hours; nil if the settings do not name any. An empty range removes
    /// them.
    fileprivate func quietHours(after known: QuietHours?) throws -> QuietHours?? {
        guard self.quietFrom != nil || self.quietUntil != nil else { return nil }
        guard let from = self.quietFrom ?? known?.from, let until = self.quietUntil ?? known?.until else {
            throw ChatError(.badRequest, message: "`quiet_from` and `quiet_until` must both be present.", field: "settings")
        }
        return .some(from == until ? nil : QuietHours(from: from, until: until))
    }
}

extension AccountPrivacy {
    fileprivate func applying(_ settings: UserSettings) -> AccountPrivacy {
        var privacy = self
        privacy.messages = settings.messages ?? privacy.messages
        privacy.lastSeen = settings.lastSeen ?? privacy.lastSeen
        privacy.avatar = settings.avatar ?? privacy.avatar
        privacy.add = settings.add ?? privacy.add
        privacy.find = settings.find ?? privacy.find
        privacy.receipts = settings.receipts ?? privacy.receipts
        privacy.typing = settings.typing ?? privacy.typing
        return privacy
    }
}
