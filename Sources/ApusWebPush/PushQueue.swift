/// Decides when pushes are sent. It limits the number of concurrent requests, sends one push at a
/// time to each device, and repeats a push after a temporary failure.
///
/// A new push replaces a waiting one with the same topic, as the push service also does (RFC 8030
/// section 5.4). Times are milliseconds of a monotonic clock.
package struct PushQueue<Content: Sendable>: Sendable {
    package struct Limits: Sendable {
        /// The maximum number of waiting pushes. Further pushes are dropped.
        package var waiting = 10_000
        /// The maximum number of waiting pushes of one device. A further push replaces the oldest.
        package var waitingOfDevice = 50
        /// The maximum number of concurrent requests.
        package var underWay = 16
        /// The maximum number of attempts to send one push.
        package var attempts = 6
        /// The delay before the second attempt, in milliseconds. It doubles with each further
        /// attempt.
        package var firstDelay: Int64 = 2_000
        /// The maximum delay before an attempt, in milliseconds, even if the push service requests
        /// a longer one.
        package var longestDelay: Int64 = 15 * 60_000
        package init() {}
    }

    package struct Push: Sendable {
        package let device: Int64
        package let topic: String
        /// The time at which the push expires, in milliseconds of a monotonic clock.
        package let expiresAt: Int64
        package let content: Content

        package init(device: Int64, topic: String, expiresAt: Int64, content: Content) {
            self.device = device
            self.topic = topic
            self.expiresAt = expiresAt
            self.content = content
        }
    }

    package enum Outcome: Sendable {
        /// The push service accepted the push, or refused it permanently.
        case done
        /// The subscription does not exist at the push service. The waiting pushes of the device
        /// are discarded.
        case gone
        /// A later attempt may succeed.
        ///
        /// `after` is the delay that the push service requested, in milliseconds; nil if it
        /// requested none.
        case failed(after: Int64?)
    }

    private struct Entry: Sendable {
        var push: Push
        var attempts = 0
        var dueAt: Int64
    }

    private let limits: Limits
    private var waiting: [Int64: [Entry]] = [:]
    private var underWay: [Int64: Entry] = [:]
    /// The devices with waiting pushes, in the order in which they are served.
    private var order: [Int64] = []
    package private(set) var count = 0

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Adds a push. Returns `false` if the queue is full; the push is then discarded.
    package mutating func add(_ push: Push, at time: Int64) -> Bool {
        var entries = self.waiting[push.device] ?? []
        if let index = entries.firstIndex(where: { $0.push.topic == push.topic }) {
            // The entry keeps its delay, which the push service may have requested.
            entries[index] = Entry(push: push, attempts: entries[index].attempts, dueAt: entries[index].dueAt)
            self.waiting[push.device] = entries
            return true
        }
        // A further push waits as long as the others of its device.
        let dueAt = entries.first?.dueAt ?? time
        let isFirst = entries.isEmpty
        if entries.count >= self.limits.waitingOfDevice {
            entries.removeFirst()
            self.count -= 1
        }
        guard self.count < self.limits.waiting else { return false }
        if isFirst { self.order.append(push.device) }
        entries.append(Entry(push: push, dueAt: dueAt))
        self.waiting[push.device] = entries
        self.count += 1
        return true
    }

    /// Returns the pushes to send now. Call ``ended(_:_:at:using:)`` for each of them.
    package mutating func next(at time: Int64) -> [Push] {
        var pushes: [Push] = []
        var later: [Int64] = []
        for device in self.order {
            guard var entries = self.waiting[device] else { continue }
            let before = entries.count
            entries.removeAll { $0.push.expiresAt <= time }
            self.count -= before - entries.count
            if self.underWay.count < self.limits.underWay, self.underWay[device] == nil,
                let index = entries.firstIndex(where: { $0.dueAt <= time })
            {
                let entry = entries.remove(at: index)
                self.count -= 1
                self.underWay[device] = entry
                pushes.append(entry.push)
            }
            self.waiting[device] = entries.isEmpty ? nil : entries
            if !entries.isEmpty { later.append(device) }
        }
        self.order = later
        return pushes
    }

    /// Handles the end of the request for a device.
    package mutating func ended(_ device: Int64, _ outcome: Outcome, at time: Int64, using generator: inout some RandomNumberGenerator) {
        guard var entry = self.underWay.removeValue(forKey: device) else { return }
        switch outcome {
        case .done: break
        case .gone: self.remove(device)
        case .failed(let after):
            entry.attempts += 1
            guard entry.attempts < self.limits.attempts else { return }
            let doubled = self.limits.firstDelay << Int64(min(entry.attempts - 1, 20))
            let delay = min(max(after ?? 0, doubled), self.limits.longestDelay)
            entry.dueAt = time + delay + Int64(truncatingIfNeeded: generator.next() >> 1) % (delay / 4 + 1)
            guard entry.dueAt < entry.push.expiresAt else { return }
            self.putBack(entry)
        }
    }

    /// Discards the waiting pushes of a device.
    package mutating func remove(_ device: Int64) {
        self.count -= self.waiting.removeValue(forKey: device)?.count ?? 0
        self.order.removeAll { $0 == device }
    }

    /// Returns the time at which the next push becomes due. It may have passed. Returns nil if the
    /// maximum number of requests is running, or if no push waits for a device without a running
    /// request.
    package func nextTime(after time: Int64) -> Int64? {
        guard self.underWay.count < self.limits.underWay else { return nil }
        return self.waiting.lazy.filter { self.underWay[$0.key] == nil }.flatMap(\.value).map(\.dueAt).min()
    }

    private mutating func putBack(_ entry: Entry) {
        let device = entry.push.device
        var entries = self.waiting[device] ?? []
        // A newer push has replaced this one, or the queue of the device is full.
        guard !entries.contains(where: { $0.push.topic == entry.push.topic }), entries.count < self.limits.waitingOfDevice else {
            for index in entries.indices { entries[index].dueAt = max(entries[index].dueAt, entry.dueAt) }
            self.waiting[device] = entries
            return
        }
        guard self.count < self.limits.waiting else { return }
        for index in entries.indices { entries[index].dueAt = max(entries[index].dueAt, entry.dueAt) }
        if entries.isEmpty { self.order.append(device) }
        self.waiting[device] = [entry] + entries
        self.count += 1
    }
}
