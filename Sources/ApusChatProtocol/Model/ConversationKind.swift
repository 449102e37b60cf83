/// The kind of a conversation.
public enum ConversationKind: String, WireChoice {
    /// The user's notes and settings. Each user has exactly one such conversation.
    case own = "self"
    /// A conversation of two users. Each pair of users has at most one.
    case pair
    /// A conversation of several users, with a title.
    case group
    /// A group in which, by default, only the owner and the admins write.
    case channel
    /// A kind that a later version of the server defines.
    case unknown
}

/// The role of a member. Together with the settings it determines the member's permissions.
public enum MemberRole: String, WireChoice {
    /// The only member who can delete or transfer the conversation and assign the role `admin`.
    case owner
    /// Manages members, settings and messages.
    case admin
    /// Writes and reads.
    case member
    /// Reads, reacts and votes, but cannot write.
    case reader
    /// A user who joined by a guest link.
    case guest
    /// A role that a later version of the server defines.
    case unknown
}

/// The relation of a user to a conversation.
public enum MemberState: String, WireChoice {
    /// The user is a member.
    case joined
    /// The user was invited and has not answered. The user sees the title and the inviter only.
    case invited
    /// The user requested to join and awaits approval.
    case requested
    /// The user left and sees the log up to the departure.
    case left
    /// The user was removed and sees the log up to the removal.
    case removed
    /// The user was banned and cannot join.
    case banned
    /// A state that a later version of the server defines.
    case unknown
}
