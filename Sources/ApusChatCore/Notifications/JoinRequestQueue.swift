package import ApusChatStorage

/// The conversations with new requests to join, whose owner and admins are to be notified.
///
/// The first request is due immediately. Requests within ``pause`` after a notification become due
/// together at its end, so that an attacker with many accounts cannot cause a notification for each
/// request.
package struct JoinRequestQueue: Sendable {
    /// The minimum time between two notifications of one conversation, in milliseconds.
    package static let pause: Int64 = 3_600_000
    /// The maximum number of conversations. Requests to further ones cause no notifications.
    package static let maximumConversations = 10_000

    private var waiting: Set<ConversationKey> = []
    /// The times at which the pauses end.
    private var pauses: [ConversationKey: Int64] = [:]

    package init() {}

    /// Adds a conversation with a new request.
    package mutating func add(_ conversation: ConversationKey) {
        guard self.waiting.count < Self.maximumConversations else { return }
        self.waiting.insert(conversation)
    }

    /// Removes and returns the conversations that are due.
    package mutating func takeDue(at time: Int64) -> [ConversationKey] {
        // A pause that is too long began before the clock was set back.
        self.pauses = self.pauses.filter { $0.value > time && $0.value <= time + Self.pause }
        let due = self.waiting.filter { self.pauses[$0] == nil }
        self.waiting.subtract(due)
        return due.sorted { $0.rawValue < $1.rawValue }
    }

    /// Begins the pause of a conversation whose owner or admins were notified.
    package mutating func notified(_ conversation: ConversationKey, at time: Int64) {
        guard self.pauses.count < Self.maximumConversations || self.pauses[conversation] != nil else { return }
        self.pauses[conversation] = time + Self.pause
    }

    /// The time at which the next conversation becomes due; nil if none waits.
    package var nextTime: Int64? { self.waiting.map { self.pauses[$0] ?? 0 }.min() }
}
