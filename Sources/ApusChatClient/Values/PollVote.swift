public import ApusChatProtocol

/// The vote of a user in a poll.
public struct PollVote: Hashable, Sendable {
    /// The user who voted.
    public var user: UserName
    /// The indices of the chosen options, from 0.
    public var options: [Int64]
}
