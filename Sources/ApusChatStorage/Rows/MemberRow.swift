package import ApusChatProtocol

/// The row of a user in a conversation: role, visible range, read position and the user's settings.
///
/// The row contains only numbers, so that a batch copies and changes rows without allocations.
package struct MemberRow: Sendable, Equatable {
    package var address: MemberAddress
    package var role: MemberRole
    package var state: MemberState
    /// The time at which the user entered the state, in milliseconds since 1970.
    package var since: Int64 = 0
    /// The `seq` of the first visible event. It increases when a user joins again or removes a pair
    /// from the list, so that the visible range is a single interval.
    package var minSeq: Int64 = 1
    /// The `seq` of the last visible event of a former member; 0 for other users.
    package var leftSeq: Int64 = 0
    /// The ordinal up to which messages do not count as unread, because they precede the
    /// membership.
    package var floorN: Int64 = 0
    /// The ordinal of the last message that the user has read.
    package var readN: Int64 = 0
    /// The number of messages above `max(readN, floorN)` that the user sent or that are hidden from
    /// the user.
    package var skipped: Int64 = 0
    /// The user who added or invited the member; `UserKey(0)` for a member who joined.
    package var invitedBy = UserKey(0)
    /// The time until which an admin has silenced the member, in milliseconds since 1970; 0 if the
    /// member is not silenced.
    package var silencedUntil: Int64 = 0
    /// The time at which a ban ends, in milliseconds since 1970; 0 if the ban has no end.
    package var bannedUntil: Int64 = 0
    /// The time of the member's last message, in milliseconds since 1970, for slow mode.
    package var lastSentAt: Int64 = 0
    /// The last `seq` of the pair when this user blocked the other user; 0 for no block.
    package var blockSeq: Int64 = 0
    /// Whether the user's list omits the conversation, for example because the user removed it or
    /// declined an invitation. A sync then reports the removal.
    package var isGone = false
    // The user's settings for the conversation.

    /// The time until which notifications are muted, in milliseconds since 1970; 0 if they are not
    /// muted.
    package var mutedUntil: Int64 = 0
    /// Whether notifications are limited to messages that mention the user.
    package var notifiesMentionsOnly = false
    /// The time at which the user pinned the conversation, in milliseconds since 1970; 0 if it is
    /// not pinned.
    package var pinnedAt: Int64 = 0
    package var isArchived = false
    package var isMarkedUnread = false
    /// The folders that contain the conversation, one bit for each (`FolderRow.slot`).
    package var folders: UInt64 = 0
    /// The `seq` of the newest draft in the user's self conversation; 0 without a draft.
    package var draftSeq: Int64 = 0
    /// The number of the batch that last changed this row. The storage sets it.
    package var changed: Int64 = 0

    package init(address: MemberAddress, role: MemberRole, state: MemberState) {
        self.address = address
        self.role = role
        self.state = state
    }

    /// Whether this user blocks the other user of the pair.
    package var blocksPeer: Bool { self.blockSeq > 0 }

    /// Returns whether the user is banned at a time.
    package func isBanned(at time: Int64) -> Bool { self.state == .banned && (self.bannedUntil == 0 || self.bannedUntil > time) }

    /// Returns the number of unread messages, given the ordinal of the last message.
    package func unread(lastN: Int64) -> Int64 {
        guard self.state == .joined else { return 0 }
        return max(0, lastN - max(self.readN, self.floorN) - self.skipped)
    }
}

extension MemberRole {
    /// The rank of the role. A member can manage only members with a lower rank.
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
