import ApusChatProtocol

/// Describes changed settings of a conversation in words.
enum ChatSettingsText {
    static func words(for body: ConversationSetBody) -> String {
        var words: [String] = []
        if let title = body.title { words.append("named the conversation \"\(ChatText.harmless(title))\"") }
        if let about = body.about { words.append(about.isEmpty ? "removed the description" : "changed the description") }
        if let avatar = body.avatar { words.append(avatar.blob == nil ? "removed the picture" : "changed the picture") }
        words += body.settings.map(self.words) ?? []
        return words.isEmpty ? "changed the settings" : words.joined(separator: ", ")
    }

    private static func words(for settings: ConversationSettingsChange) -> [String] {
        var words: [String] = []
        if let write = settings.write { words.append("lets \(write.rawValue) write") }
        if let join = settings.join { words.append("made joining \(join == .approval ? "subject to approval" : join.rawValue)") }
        if let listed = settings.listed { words.append(listed ? "listed it in the directory" : "took it from the directory") }
        if let slow = settings.slow { words.append(slow > 0 ? "set slow mode: one message in \(self.time(slow))" : "ended slow mode") }
        if let expire = settings.expire {
            words.append(expire > 0 ? "lets messages disappear after \(self.time(expire))" : "lets messages stay")
        }
        if let invite = settings.invite { words.append("lets \(invite.rawValue) invite") }
        if let manage = settings.manage { words.append("lets \(manage.rawValue) change the title and the picture") }
        if let pin = settings.pin { words.append("lets \(pin.rawValue) pin messages") }
        if let mentionAll = settings.mentionAll { words.append("lets \(mentionAll.rawValue) mention all") }
        if let history = settings.history {
            words.append("lets new members read \(history == .all ? "earlier messages" : "messages after they join")")
        }
        if let receipts = settings.receipts { words.append(receipts ? "shows read receipts" : "hides read receipts") }
        return words
    }

    /// Returns a number of seconds in the largest unit that divides it.
    static func time(_ seconds: Int64) -> String {
        for (unit, length) in [("d", 86_400), ("h", 3_600), ("min", 60)] as [(String, Int64)] where seconds % length == 0 && seconds > 0 {
            return "\(seconds / length) \(unit)"
        }
        return "\(seconds) s"
    }
}
