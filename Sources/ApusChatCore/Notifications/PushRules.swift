import ApusChatProtocol
package import ApusChatStorage

/// Decides whether a device that does not show the conversation is notified of a message.
package enum PushRules {
    /// Returns whether a member is notified of a message that the member can see.
    ///
    /// - Parameters:
    ///   - isSilent: Whether the sender requested that the message causes no notification.
    ///   - mentionsOnly: Whether the member is notified of mentions only.
    ///   - time: Milliseconds since 1970.
    package static func notify(
        _ member: MemberRow, of event: EventRow, isSilent: Bool, mentionsOnly: Bool, quietHours: QuietHours?, at time: Int64
    ) -> Bool {
        guard event.isMessage, !event.state.isBlank, !isSilent, event.sender != member.address.user else { return false }
        guard member.state == .joined, !member.isGone, event.n > max(member.readN, member.floorN) else { return false }
        guard member.mutedUntil <= time, quietHours?.contains(time) != true else { return false }
        return !mentionsOnly || self.mentions(event, member.address.user)
    }

    /// Returns whether an owner or admin is notified of requests to join. A request mentions no
    /// user.
    package static func notifyOfRequests(_ member: MemberRow, quietHours: QuietHours?, at time: Int64) -> Bool {
        guard member.state == .joined, !member.isGone, member.role.rank >= MemberRole.admin.rank else { return false }
        return member.mutedUntil <= time && quietHours?.contains(time) != true && !member.notifiesMentionsOnly
    }

    /// Returns whether a message mentions a user, or all members.
    package static func mentions(_ event: EventRow, _ user: UserKey) -> Bool { event.mentionsAll || event.mentions.contains(user) }
}

extension QuietHours {
    /// Returns whether a time in milliseconds since 1970 is within the quiet hours, which may span
    /// midnight.
    package func contains(_ time: Int64) -> Bool {
        let minute = (time / 60_000) % 1_440
        return self.from <= self.until ? (self.from..<self.until).contains(minute) : minute >= self.from || minute < self.until
    }
}
