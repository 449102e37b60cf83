/// The settings of the operator on which decisions depend.
package struct ChatRules: Sendable, Equatable {
    /// The time for which the sender can edit a message, in milliseconds. Default: 48 hours.
    package var editMilliseconds: Int64 = 172_800_000
    /// The time for which the sender can recall a message, in milliseconds. Default: 48 hours.
    /// Owners and admins can recall messages at any time.
    package var recallMilliseconds: Int64 = 172_800_000
    /// The time for which answers to requests other than `send` are stored for retries, in
    /// milliseconds. Default: 7 days.
    package var answerMilliseconds: Int64 = 604_800_000

    package init() {}
}
