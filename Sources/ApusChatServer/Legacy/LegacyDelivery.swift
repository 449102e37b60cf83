/// The delivery of the messages of one conversation to one legacy connection.
///
/// A push only indicates that there are new messages. The messages are read from the log in pages,
/// and the next page is read when the app has answered all messages of the current one. The read
/// position of the user is the last message up to which the app has answered all messages.
struct LegacyDelivery: Hashable {
    enum Action: Hashable {
        case doNothing
        /// Read the log from this `seq`. Then call `fetched` or `failed`.
        case fetch(from: Int64)
    }

    private enum Phase: Hashable {
        /// All known events were delivered. Transitions to `fetching` (news).
        case idle
        /// A page is being read. Transitions to `waiting` (fetched) or `idle` (failed).
        case fetching
        /// Messages of the page are unanswered. Transitions to `fetching` or `idle` (all
        /// answered).
        case waiting
    }

    private struct Sent: Hashable {
        var n: Int64
        var isAnswered = false
    }

    private var phase = Phase.idle
    /// The `seq` of the next event to read.
    private(set) var next: Int64
    /// The `seq` of the newest known event.
    private var newest: Int64
    /// The messages of the current page, from the first unanswered message onward.
    private var sent: [Sent] = []
    /// The ordinal up to which the app has answered all messages.
    private var read: Int64 = 0
    /// Whether the app left a message unanswered. Later messages are delivered, but the read
    /// position no longer advances. The next connection delivers these messages again.
    private var isBroken = false

    /// - Parameter next: The `seq` of the first event to deliver.
    init(next: Int64) {
        self.next = next
        self.newest = next - 1
    }

    /// Records a new end of the log.
    mutating func news(seq: Int64) -> Action {
        self.newest = max(self.newest, seq)
        return self.proceed()
    }

    /// Records that a page was read and its messages were sent.
    ///
    /// - Parameters:
    ///   - last: The `seq` of the last event of the page; nil for an empty page.
    ///   - messages: The ordinals of all messages of the page.
    ///   - awaited: The ordinals of the messages that the app acknowledges.
    mutating func fetched(last: Int64?, messages: [Int64], awaited: Set<Int64>) -> (read: Int64?, action: Action) {
        guard self.phase == .fetching else { return (nil, .doNothing) }
        if let last { self.next = max(self.next, last + 1) } else { self.newest = min(self.newest, self.next - 1) }
        self.sent += messages.map { Sent(n: $0, isAnswered: !awaited.contains($0)) }
        self.phase = .waiting
        return (self.advance(), self.proceed())
    }

    /// Records that a page could not be read. It is read again after the next push.
    mutating func failed() { if self.phase == .fetching { self.phase = .idle } }

    /// Records the acknowledgement of a message.
    ///
    /// - Returns: The new read position; nil if it does not move.
    mutating func answered(_ n: Int64) -> (read: Int64?, action: Action) {
        if let index = self.sent.firstIndex(where: { $0.n == n }) { self.sent[index].isAnswered = true }
        return (self.advance(), self.proceed())
    }

    /// Records that the app did not answer a message.
    mutating func unanswered(_ n: Int64) -> Action {
        guard self.sent.contains(where: { $0.n == n && !$0.isAnswered }) else { return .doNothing }
        self.isBroken = true
        self.sent.removeAll { $0.n == n }
        return self.proceed()
    }

    private mutating func advance() -> Int64? {
        let before = self.read
        while let first = self.sent.first, first.isAnswered {
            if !self.isBroken { self.read = max(self.read, first.n) }
            self.sent.removeFirst()
        }
        return self.read > before ? self.read : nil
    }

    private mutating func proceed() -> Action {
        switch self.phase {
        case .fetching: return .doNothing
        case .waiting, .idle:
            guard self.sent.allSatisfy(\.isAnswered) else { return .doNothing }
            if self.isBroken { self.sent = [] }
            guard self.newest >= self.next else {
                self.phase = .idle
                return .doNothing
            }
            self.phase = .fetching
            return .fetch(from: self.next)
        }
    }
}
