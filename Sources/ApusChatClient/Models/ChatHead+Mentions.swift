package import ApusChatProtocol

extension ChatHead {
    /// The words that mention all members after `@`: empty if the user may not mention them,
    /// because the server refuses a message that does.
    package var wordsForAll: Set<String> {
        guard self.kind == .group || self.kind == .channel else { return [] }
        if self.role == .owner || self.role == .admin { return ["all"] }
        return self.role == .member && self.settings?.mentionAll == .members ? ["all"] : []
    }
}
