/// The kind of a conversation.
public enum ConversationKind: String, WireChoice {
    /// The own user's notes and settings. Each user has one.
    case own = "self"
    /// Two users. Each pair of users has at most one.
    case pair
    /// Several users, with a title.
    case group
    /// A group in which few write and many read.
    case channel
    /// A kind of a later server.
    case unknown
}

/// The role of a member, which with the settings determines the member's permissions.
public enum MemberRole: String, WireChoice {
    /// The one member that can delete the conversation and name admins.
    case owner
    /// Manages members, settings and messages.
    case admin
    /// Writes and reads.
    case member
    /// Reads.
    case reader
    /// Came by a guest link.
    case guest
    /// A role of a later server.
    case unknown
}

/// The relation of a user to a conversation.
public enum MemberState: String, WireChoice {
    /// A member.
    case joined
    /// Was invited and has not answered: sees the title and the inviter only.
    case invited
    /// Asked to join and waits for approval.
    case requested
    /// Left; sees the log up to then.
    case left
    /// Was removed; sees the log up to then.
    case removed
    /// Was banned, and cannot join.
    case banned
    /// A state of a later server.
    case unknown
}
