/// A bug that the simulator plants in a shell on request, to show that the oracle detects it.
enum PlantedBug: String, CaseIterable, Sendable {
    /// Answers are sent after the decision. If the server stops before the commit, acknowledged
    /// commands are lost.
    case ackBeforeCommit = "ack-before-commit"
    /// A retry is compared with the stored body, which an edit or a recall has changed.
    case retryByStoredBody = "retry-by-stored-body"
    /// A program that restarts sends its unsent messages in reverse order.
    case outboxReversed = "outbox-reversed"
    /// A push that arrives early moves the cursor over the missing events, and the store is not
    /// notified of the gap.
    case earlyPushSkips = "early-push-skips"
    /// The number of unread messages also includes changes after the read position.
    case unreadCountsChanges = "unread-counts-changes"
    /// The number of unread mentions decreases when the read position moves, but not after a
    /// recall.
    case mentionsSurviveRecall = "mentions-survive-recall"
    /// The answers to `history` come from a cache that is not updated after a recall.
    case recalledServed = "recalled-served"
    /// The answers to `history` come from a cache that is not updated after a message has expired.
    case expiredServed = "expired-served"
    /// A former member can read the log like a member.
    case formerServed = "former-served"
    /// A member can read the log from its beginning instead of from the join.
    case floorIgnored = "floor-ignored"
    /// A vote is added without removing the earlier vote of the same user.
    case voteCountedTwice = "vote-counted-twice"
    /// A scheduled message is sent with a new id, and removed from the schedule by a later batch.
    case scheduleFiresTwice = "schedule-fires-twice"
    /// The preview of a link is added to the text that the message had when the page was requested.
    case previewAfterRecall = "preview-after-recall"
    /// Heads that change while a connection does not read are discarded.
    case stalledLosesHead = "stalled-loses-head"
    /// The uses of a link are counted only within one batch.
    case linkPastLimit = "link-past-limit"
    /// The messages of a forward are read without a check whether the user may see them.
    case forwardUnseen = "forward-unseen"
    /// A recall also removes the content of the forwarded copies of the message.
    case recallReachesCopies = "recall-reaches-copies"
    /// The retry of a reply counts as a further reply in its thread.
    case replyCountedAgain = "reply-counted-again"
    /// A call that starts while another one runs in the conversation is added to the log.
    case callsCollide = "calls-collide"
    /// The calls that were running when the server stopped are not resumed, so that they never end.
    case restartForgetsCalls = "restart-forgets-calls"
    /// A message that a user deleted for itself is served to its devices.
    case deletedForMeServed = "deleted-for-me-served"
    /// A message that a user deleted for itself is hidden from all members.
    case deletedForAll = "deleted-for-all"
    /// Each command that erases messages of an account omits the last one.
    case erasureIncomplete = "erasure-incomplete"
    /// Slow mode considers only the messages of one batch.
    case slowModeForgets = "slow-mode-forgets"
    /// A removed preview remains in the message.
    case previewStays = "preview-stays"

    /// A seed with which the simulator finds the bug. `scripts/simulate --planted all` prints the
    /// lowest seed for each bug.
    var seed: UInt64 {
        switch self {
        case .retryByStoredBody, .earlyPushSkips, .unreadCountsChanges, .mentionsSurviveRecall, .recalledServed,
            .expiredServed, .formerServed, .floorIgnored, .scheduleFiresTwice, .stalledLosesHead, .linkPastLimit,
            .restartForgetsCalls, .deletedForAll, .erasureIncomplete:
            1
        case .deletedForMeServed: 2
        case .ackBeforeCommit, .replyCountedAgain, .slowModeForgets: 3
        case .previewStays: 5
        case .outboxReversed: 6
        case .voteCountedTwice: 11
        case .recallReachesCopies, .callsCollide: 13
        case .previewAfterRecall: 14
        case .forwardUnseen: 45
        }
    }
}
