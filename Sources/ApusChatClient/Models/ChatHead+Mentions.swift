package import ApusChatProtocol

extension ChatHead {
    /// The words that mention all members after `@`. Empty if the user may not mention all members,
    /// because the server would refuse the message.
    package var wordsForAll: Set<String> {
        guard self.kind == .group || self.kind == .channel else { return [] }
        if self.role == .owner || self.role == .admin { return ["all"] }
        return self.role == .member && self.settings?.mentionAll == .members ? ["all"] : []
    }
}
