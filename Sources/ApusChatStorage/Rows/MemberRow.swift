package import ApusChatProtocol

/// One user's place in one conversation: role, visible range, read position and own settings.
///
/// Plain numbers only: a batch copies and changes these rows without an allocation.
package struct MemberRow: Sendable, Equatable {
    package var address: MemberAddress
    package var role: MemberRole
    package var state: MemberState
    /// When the user got this state.
    package var since: Int64 = 0
    /// The first visible seq. A rejoin moves it, so that the visible range is always one interval.
    package var minSeq: Int64 = 1
    /// The last visible seq of a former member, or 0.
    package var leftSeq: Int64 = 0
    /// Messages up to this ordinal do not count as unread: those before the member joined.
    package var floorN: Int64 = 0
    /// The read position.
    package var readN: Int64 = 0
    /// The number of own and hidden messages above `max(readN, floorN)`.
    package var skipped: Int64 = 0
    /// The user that invited this one, or key 0.
    package var invitedBy = UserKey(0)
    /// Until when this member may not write, or 0. Set by moderators.
    package var silencedUntil: Int64 = 0
    /// Until when a ban holds, or 0 for always.
    package var bannedUntil: Int64 = 0
    /// The time of the last message, for slow mode.
    package var lastSentAt: Int64 = 0
    /// Since when this user blocks the other one of the pair, or 0.
    package var blocksPeerSince: Int64 = 0
    /// Whether the user removed the conversation from the list. A head of it is a tombstone.
    package var isGone = false
    // The member's own settings.
    /// Until when notifications are muted, or 0.
    package var mutedUntil: Int64 = 0
    /// Whether notifications tell messages that mention the user only.
    package var notifiesMentionsOnly = false
    /// When the user pinned the conversation, or 0.
    package var pinnedAt: Int64 = 0
    package var isArchived = false
    package var isMarkedUnread = false
    /// The folders that contain the conversation: bit `i` is `AccountRow.folders[i]`.
    package var folders: UInt64 = 0
    /// The seq in the user's self conversation of the newest draft, or 0.
    package var draftSeq: Int64 = 0
    /// The commit of the last change of this row, set by the storage.
    package var changed: Int64 = 0

    package init(address: MemberAddress, role: MemberRole, state: MemberState) {
        self.address = address
        self.role = role
        self.state = state
    }

    /// Whether this user blocks the other one of the pair.
    package var blocksPeer: Bool { self.blocksPeerSince > 0 }

    /// Whether the user is banned at a time.
    package func isBanned(at time: Int64) -> Bool { self.state == .banned && (self.bannedUntil == 0 || self.bannedUntil > time) }

    /// The number of unread messages if the last message of the conversation is `lastN`.
    package func unread(lastN: Int64) -> Int64 {
        guard self.state == .joined else { return 0 }
        return max(0, lastN - max(self.readN, self.floorN) - self.skipped)
    }
}

extension MemberRole {
    /// The order of the roles: a higher one may act on a lower one.
    package var rank: Int {
        switch self {
        case .owner: 5
        case .admin: 4
        case .member: 3
        case .reader: 2
        case .guest: 1
        case .unknown: 0
        }
    }
}
