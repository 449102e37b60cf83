package import ApusChatStorage

/// Tells the ends of logs again, some time after their last push.
///
/// A lost push of a busy conversation is noticed with the next one, as a hole. The digest closes
/// the tail of a conversation that became quiet: `PushRouter.digest` sends it to the connected
/// members as a nudge, which a client that missed nothing ignores.
package struct HeadDigest: Sendable {
    package enum Action: Sendable, Equatable {
        /// Call `timerFired` after this time.
        case schedule(after: Duration)
        /// A timer runs already, or none is needed.
        case doNothing
    }

    /// The time for which a conversation is quiet before it is told, in milliseconds. It is told
    /// once, at most twice this time after its last event.
    package static let interval: Int64 = 20_000

    /// The time of the last event of each conversation that was not told since.
    private var changed: [ConversationKey: Int64] = [:]
    private var isScheduled = false

    package init() {}

    package var isEmpty: Bool { self.changed.isEmpty }

    /// - Parameter time: Milliseconds of a clock that never jumps.
    package mutating func committed(_ batch: DecidedBatch, at time: Int64) -> Action {
        for push in batch.pushes {
            if case .events(let conversation, _, _) = push { self.changed[conversation] = time }
        }
        for conversation in batch.deleted { self.changed[conversation] = nil }
        return self.schedule()
    }

    /// Returns the conversations to tell, in key order.
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
