package import ApusChatProtocol
package import ApusChatStorage

/// Collects the changed heads and read positions for one connection, which receives at most one
/// frame of them per second.
package struct CoalescedHeads: Sendable {
    /// The content of one frame.
    package struct Frame: Sendable, Equatable {
        /// The conversations with changed heads. The shell reads the heads when it creates the
        /// frame.
        package var heads: [ConversationKey] = []
        /// The nudges of conversations whose heads are not sent.
        package var nudges: [HeadNudge] = []
        /// The newest read positions of members.
        package var reads: [Read] = []

        package init(heads: [ConversationKey] = [], nudges: [HeadNudge] = [], reads: [Read] = []) {
            self.heads = heads
            self.nudges = nudges
            self.reads = reads
        }
    }

    package struct Read: Sendable, Equatable {
        package var conversation: ConversationKey
        package var user: UserKey
        /// The read position; 0 if it did not change.
        package var n: Int64
        /// The ordinal of the last message that a device of the user has received; 0 if it did not
        /// change.
        package var received: Int64

        package init(conversation: ConversationKey, user: UserKey, n: Int64 = 0, received: Int64 = 0) {
            self.conversation = conversation
            self.user = user
            self.n = n
            self.received = received
        }
    }

    package enum Action: Sendable, Equatable {
        case send(Frame)
        /// Call `timerFired` after this time.
        case schedule(after: Duration)
        /// A timer already runs, the frames are held, or nothing has changed.
        case doNothing
    }

    /// The time between two frames, in milliseconds.
    package static let interval: Int64 = 1_000

    private var heads: Set<ConversationKey> = []
    private var nudges: [ConversationKey: HeadNudge] = [:]
    private var reads: [MemberAddress: (n: Int64, received: Int64)] = [:]
    private var lastFrame: Int64?
    private var isScheduled = false
    private var isHeld = false

    package init() {}

    package var isEmpty: Bool { self.heads.isEmpty && self.nudges.isEmpty && self.reads.isEmpty }

    /// Records a changed head.
    ///
    /// - Parameter time: Milliseconds of a monotonic clock.
    package mutating func headChanged(_ conversation: ConversationKey, at time: Int64) -> Action {
        self.heads.insert(conversation)
        return self.sendOrWait(at: time)
    }

    /// Adds a nudge. A changed head of the same conversation replaces it.
    package mutating func advanced(_ nudge: HeadNudge, in conversation: ConversationKey, at time: Int64) -> Action {
        if nudge.seq >= self.nudges[conversation]?.seq ?? 0 { self.nudges[conversation] = nudge }
        return self.sendOrWait(at: time)
    }

    package mutating func readMoved(_ read: Read, at time: Int64) -> Action {
        let address = MemberAddress(read.conversation, read.user)
        let known = self.reads[address] ?? (0, 0)
        self.reads[address] = (max(known.n, read.n), max(known.received, read.received))
        return self.sendOrWait(at: time)
    }

    package mutating func timerFired(at time: Int64) -> Action {
        self.isScheduled = false
        return self.isEmpty ? .doNothing : self.sendOrWait(at: time)
    }

    /// Holds back all frames until `release`, for a connection that does not read.
    package mutating func hold() { self.isHeld = true }

    package mutating func release(at time: Int64) -> Action {
        self.isHeld = false
        return self.isEmpty ? .doNothing : self.sendOrWait(at: time)
    }

    private mutating func sendOrWait(at time: Int64) -> Action {
        guard !self.isScheduled, !self.isHeld else { return .doNothing }
        if let lastFrame = self.lastFrame, time.elapsed(since: lastFrame) < Self.interval {
            self.isScheduled = true
            return .schedule(after: .milliseconds(Self.interval - time.elapsed(since: lastFrame)))
        }
        self.lastFrame = time
        var frame = Frame(heads: self.heads.sorted())
        for (key, nudge) in self.nudges.sorted(by: { $0.key < $1.key }) where !self.heads.contains(key) { frame.nudges.append(nudge) }
        frame.reads = self.reads.map {
            Read(conversation: $0.key.conversation, user: $0.key.user, n: $0.value.n, received: $0.value.received)
        }
        .sorted { ($0.conversation, $0.user) < ($1.conversation, $1.user) }
        self.heads.removeAll()
        self.nudges.removeAll()
        self.reads.removeAll()
        return .send(frame)
    }
}
