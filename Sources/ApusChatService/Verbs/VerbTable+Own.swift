import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// Settings of the requesting user.
extension VerbTable {
    mutating func addOwn() {
        self.change(ChatVerbs.ownSet) { request, _ in
            let changes = request.changes
            guard !changes.isEmpty else { throw ChatError(.badRequest, message: "At least one setting must be present.") }
            return changes.count == 1
                ? .personalize(request.conversation.key, changes[0]) : .personalizeAll(request.conversation.key, changes)
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
        self.change(ChatVerbs.settingsSet) { request, _ in
            var update = ProfileUpdate()
            update.settings = request.settings
            return .updateProfile(update)
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
