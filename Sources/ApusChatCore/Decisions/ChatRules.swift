/// The settings of the operator that decisions depend on.
package struct ChatRules: Sendable, Equatable {
    /// The time in which a member can edit an own message, in milliseconds. Default: 48 hours.
    package var editMilliseconds: Int64 = 172_800_000
    /// The time in which a member can recall an own message for all, in milliseconds. Default: 48
    /// hours. Owners and admins can recall at any time.
    package var recallMilliseconds: Int64 = 172_800_000
    /// The time for which the answers of requests other than `send` are kept, in milliseconds.
    package var answerMilliseconds: Int64 = 604_800_000

    package init() {}
}
