package import ApusChatStorage

/// Sends the newest position of each log again, some time after the last push of the log.
///
/// If a push is lost, the client detects the missing events with the next push of the conversation.
/// If there is no next push, the digest makes the loss visible: `PushRouter.digest` sends the
/// newest position to the connected members as a nudge. A client that missed nothing ignores it.
package struct HeadDigest: Sendable {
    package enum Action: Sendable, Equatable {
        /// Call `timerFired` after this time.
        case schedule(after: Duration)
        /// A timer already runs, or no timer is required.
        case doNothing
    }

    /// The time after the last event of a conversation before its newest position is sent, in
    /// milliseconds. It is sent once, at most twice this time after the event.
    package static let interval: Int64 = 20_000

    /// The conversations whose newest position was not sent by the digest yet, each with the time
    /// of its last event.
    private var changed: [ConversationKey: Int64] = [:]
    private var isScheduled = false

    package init() {}

    package var isEmpty: Bool { self.changed.isEmpty }

    /// Records the conversations with new events of a committed batch.
    ///
    /// - Parameter time: Milliseconds of a monotonic clock.
    package mutating func committed(_ batch: DecidedBatch, at time: Int64) -> Action {
        for push in batch.pushes {
            if case .events(let conversation, _, _) = push { self.changed[conversation] = time }
        }
        for conversation in batch.deleted { self.changed[conversation] = nil }
        return self.schedule()
    }

    /// Returns the conversations whose newest positions are due, in the order of their keys.
    package mutating func timerFired(at time: Int64) -> (told: [ConversationKey], next: Action) {
        self.isScheduled = false
        let told = self.changed.filter { time.elapsed(since: $0.value) >= Self.interval }.keys.sorted()
        for conversation in told { self.changed[conversation] = nil }
        return (told, self.schedule())
    }

    private mutating func schedule() -> Action {
        guard !self.isScheduled, !self.changed.isEmpty else { return .doNothing }
        self.isScheduled = true
        return .schedule(after: .milliseconds(Self.interval))
    }
}
