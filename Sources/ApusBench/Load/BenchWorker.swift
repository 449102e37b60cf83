import DequeModule
import NIOCore

/// The connections of one event loop and their statistics. Confined to the loop.
final class BenchWorker {
    enum Phase { case opening, warmingUp, measuring, draining, over }

    let plan: BenchPlan
    // A separate property, so that reading it for each message does not copy the plan.
    let isBroadcast: Bool
    private let hasRate: Bool
    private let inFlight: Int
    let messages: BenchMessages
    let frames: BenchFrames
    /// The message for each slot as packets of a polling payload.
    let pollingPackets: [String]
    let eventLoop: any EventLoop
    private let share: Int
    /// The number of this worker's first connection.
    private let firstIndex: Int
    private(set) var phase = Phase.opening
    private(set) var statistics = BenchStatistics()
    private(set) var lost = 0

    private var peers: [any BenchPeer] = []
    private var opener: BenchOpener?

    // The variables up to `waiting` are used only at a fixed rate.
    private var schedule: BenchSchedule?
    private var nextPeer = 0
    private var ticker: Scheduled<Void>?
    /// The scheduled times of messages for which no connection had a free slot.
    private var waiting = Deque<UInt64>()
    private static let maximumWaiting = 1_000_000

    private var broadcasts = BenchBroadcasts()

    private var measuringSince: UInt64 = 0
    private var measuredNanoseconds: UInt64 = 0

    init(plan: BenchPlan, loop: Int, eventLoop: any EventLoop) {
        let share = plan.connections(onLoop: loop)
        self.firstIndex = (0..<loop).reduce(0) { $0 + plan.connections(onLoop: $1) }
        self.plan = plan
        self.isBroadcast = plan.isBroadcast
        self.hasRate = plan.rate != nil
        self.inFlight = plan.inFlight
        self.messages = BenchMessages(plan: plan)
        self.frames = BenchFrames(self.messages, inFlight: plan.inFlight)
        self.pollingPackets = plan.polling ? self.messages.pollingPackets(inFlight: plan.inFlight) : []
        self.share = share
        self.eventLoop = eventLoop
    }

    static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

    /// Returns the messages that the connection with this number sends (from 0, on this loop).
    func voice(_ number: Int) -> (messages: BenchMessages, frames: BenchFrames, pollingPackets: [String]) {
        guard self.plan.differsByConnection else { return (self.messages, self.frames, self.pollingPackets) }
        let messages = BenchMessages(plan: self.plan, index: self.firstIndex + number)
        let packets = self.plan.polling ? messages.pollingPackets(inFlight: self.plan.inFlight) : []
        return (messages, BenchFrames(messages, inFlight: self.plan.inFlight), packets)
    }

    // MARK: Opening

    /// Opens the connections. The future completes when every attempt has ended.
    func open() -> EventLoopFuture<BenchOpener.Result> {
        let opener = BenchOpener(worker: self, count: self.share)
        self.opener = opener
        opener.start()
        return opener.futureResult
    }

    var openedCount: Int { self.peers.count }

    func opened(_ peer: any BenchPeer) { self.peers.append(peer) }

    func ended(_ peer: any BenchPeer) {
        guard self.phase != .over else { return }
        self.lost += 1
        self.peers.removeAll { $0 === peer }
    }

    // MARK: Phases

    func startSending() {
        self.phase = .warmingUp
        guard self.plan.inFlight > 0, !self.peers.isEmpty else { return }
        let now = Self.now
        if let rate = self.plan.rate {
            let share = rate * Double(self.share) / Double(self.plan.connections)
            self.schedule = BenchSchedule(start: now, rate: self.isBroadcast ? rate : share)
            self.tick()
        } else if self.isBroadcast {
            self.sendBroadcasts(at: now)
        } else {
            for peer in self.peers { self.outstanding += peer.send(self.plan.inFlight, meantFor: now) }
        }
    }

    func startMeasuring() {
        self.statistics = BenchStatistics()
        self.measuringSince = Self.now
        self.phase = .measuring
    }

    /// Stops sending. The caller waits for outstanding answers.
    func stopSending() {
        self.sendDue()  // messages that have become due since the last tick
        self.measuredNanoseconds = Self.now - self.measuringSince
        self.phase = .draining
        self.ticker?.cancel()
        self.ticker = nil
    }

    /// Whether all messages that were sent have been answered.
    var isAnswered: Bool { self.outstanding == 0 }
    private(set) var outstanding = 0

    /// Closes the connections and returns the result.
    func finish() -> (statistics: BenchStatistics, seconds: Double, lost: Int) {
        let now = Self.now
        if self.hasRate, !self.isBroadcast {
            for peer in self.peers {
                for time in peer.takeUnanswered() where time >= self.measuringSince { self.statistics.abandoned(sent: time, at: now) }
            }
            for time in self.waiting where time >= self.measuringSince { self.statistics.abandoned(sent: time, at: now) }
        }
        self.phase = .over
        for peer in self.peers { peer.close() }
        self.peers = []
        return (self.statistics, Double(self.measuredNanoseconds) / 1e9, self.lost)
    }

    // MARK: Messages

    /// Processes answers that freed `count` slots of a connection.
    func answered(_ count: Int, by peer: any BenchPeer, at now: UInt64) {
        self.outstanding -= count
        guard self.phase == .warmingUp || self.phase == .measuring, !self.isBroadcast else { return }
        if !self.hasRate {
            self.outstanding += peer.send(count, meantFor: now)
            return
        }
        var room = count
        while room > 0, let time = self.waiting.popFirst() {
            self.outstanding += peer.send(1, meantFor: time)
            room -= 1
        }
    }

    /// Records an answer to a message that was sent at `time` or scheduled for `time`.
    func record(sent time: UInt64, at now: UInt64) {
        switch self.phase {
        case .measuring:
            // At a fixed rate only the messages scheduled within the measured time count.
            if self.schedule == nil || time >= self.measuringSince { self.statistics.answered(sent: time, at: now) }
        case .draining:
            // After the measurement, an answer counts only if its message was scheduled at a fixed
            // rate and within the measured time.
            if self.schedule != nil, time >= self.measuringSince { self.statistics.answered(sent: time, at: now) }
        case .opening, .warmingUp, .over: break
        }
    }

    /// Records the delivery of broadcast number `sequence` to one connection.
    func delivered(sequence: Int, at now: UInt64) {
        self.outstanding -= 1
        if let time = self.broadcasts.sentTime(sequence) { self.record(sent: time, at: now) }
    }

    /// Sends further broadcasts after all deliveries of one read have been counted.
    func deliveriesCounted(at now: UInt64) {
        guard self.phase == .warmingUp || self.phase == .measuring, self.schedule == nil else { return }
        self.sendBroadcasts(at: now)
    }

    private func sendBroadcasts(at now: UInt64) {
        let receivers = self.peers.count
        while self.outstanding + receivers <= receivers * self.inFlight { guard self.sendBroadcast(meantFor: now) else { return } }
    }

    private func sendBroadcast(meantFor time: UInt64) -> Bool {
        guard let sender = self.peers.first, sender.send(1, meantFor: time) == 1 else { return false }
        self.broadcasts.sent(at: time)
        self.outstanding += self.peers.count
        return true
    }

    // MARK: A fixed rate

    private func tick() {
        self.sendDue()
        guard let next = self.schedule?.next, self.phase == .warmingUp || self.phase == .measuring else { return }
        // At most every 200 µs, to limit the load tool's own cost.
        let pause = max(Int64(clamping: next) - Int64(clamping: Self.now), 200_000)
        self.ticker = self.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(pause)) { self.tick() }
    }

    private func sendDue() {
        guard var schedule = self.schedule else { return }
        let now = Self.now
        while let time = schedule.due(at: now) {
            self.statistics.becameDue(intended: time, at: now)
            self.sendScheduled(time)
        }
        self.schedule = schedule
    }

    private func sendScheduled(_ time: UInt64) {
        if self.isBroadcast {
            _ = self.sendBroadcast(meantFor: time)
            return
        }
        guard !self.peers.isEmpty else { return }
        for _ in 0..<min(self.peers.count, 16) {
            self.nextPeer = (self.nextPeer + 1) % self.peers.count
            if self.peers[self.nextPeer].send(1, meantFor: time) == 1 {
                self.outstanding += 1
                return
            }
        }
        if self.waiting.count < Self.maximumWaiting { self.waiting.append(time) }
    }
}

@available(*, unavailable)
extension BenchWorker: Sendable {}
