/// What is known of a run of transfers: the files under way, what is done, and how fast it goes. Pure: the time is passed in.
struct TransferSummary {
    struct File: Hashable {
        var name: String
        var size: Int
        /// On the receiver's disk.
        var done: Int
        /// Where it went on from.
        var offset: Int
        /// When it was last told of in a line of its own.
        var toldAt: Duration
        /// Both sides look how much of it is there.
        var isCompared = false
    }

    /// By key, in the order in which they began.
    private(set) var files: [(key: String, file: File)] = []
    /// Files that are done, and their bytes.
    private(set) var completed = 0
    private(set) var completedBytes = 0
    private(set) var failed = 0
    /// Of everything, when it is known beforehand.
    var totalFiles: Int?
    var totalBytes: Int?
    /// Bytes that came to the disk in this run.
    private(set) var movedBytes = 0
    private(set) var beganAt: Duration?
    /// What had been moved when, over the last seconds; the newest last.
    private var samples: [(at: Duration, moved: Int)] = []

    /// The time over which the rate is taken.
    static let rateSpan = Duration.seconds(5)

    // MARK: Events

    mutating func began(_ key: String, name: String, size: Int, offset: Int, at now: Duration) {
        if self.beganAt == nil { self.beganAt = now }
        self.files.removeAll { $0.key == key }  // begun anew
        self.files.append((key, File(name: name, size: size, done: offset, offset: offset, toldAt: now)))
    }

    mutating func offered(_ key: String, name: String, size: Int, at now: Duration) {
        self.began(key, name: name, size: size, offset: 0, at: now)
        self.files[self.files.count - 1].file.isCompared = true
    }

    mutating func progressed(_ key: String, to done: Int, at now: Duration) {
        guard let index = self.index(key) else { return }
        self.movedBytes += max(0, done - self.files[index].file.done)
        self.files[index].file.done = max(self.files[index].file.done, done)
        self.sample(at: now)
    }

    /// Answers what was known of it; `nil` when it never began.
    @discardableResult
    mutating func ended(_ key: String, isCompleted: Bool, size: Int, at now: Duration) -> File? {
        let index = self.index(key)
        let file = index.map { self.files.remove(at: $0).file }
        if isCompleted {
            if let file { self.movedBytes += max(0, size - file.done) }
            self.completed += 1
            self.completedBytes += size
        } else {
            self.failed += 1
        }
        self.sample(at: now)
        return file
    }

    /// A connection is gone, and what was under way on it: it comes again.
    mutating func forget(where isGone: (String) -> Bool) {
        self.files.removeAll { isGone($0.key) }
    }

    /// Answers whether a line of a file's own is due.
    mutating func tells(_ key: String, every interval: Duration, at now: Duration) -> Bool {
        guard let index = self.index(key), now - self.files[index].file.toldAt >= interval else { return false }
        self.files[index].file.toldAt = now
        return true
    }

    private func index(_ key: String) -> Int? { self.files.firstIndex { $0.key == key } }

    private mutating func sample(at now: Duration) {
        // Ten a second are enough, and bound the list.
        guard let last = self.samples.last else { return self.samples.append((self.beganAt ?? now, 0)) }
        if now - last.at >= .milliseconds(100) { self.samples.append((now, self.movedBytes)) }
        while self.samples.count > 2, now - self.samples[1].at > Self.rateSpan { self.samples.removeFirst() }
    }

    // MARK: Sums

    /// Bytes on the disk, of the files that are done and those under way.
    var doneBytes: Int { self.files.reduce(self.completedBytes) { $0 + $1.file.done } }

    /// What all of it has, as far as is known.
    var knownBytes: Int { max(self.totalBytes ?? 0, self.files.reduce(self.completedBytes) { $0 + $1.file.size }) }

    /// Bytes a second over the last seconds; `nil` before there is anything to say.
    func rate(at now: Duration) -> Double? {
        guard let first = self.samples.first, now - first.at >= .milliseconds(500) else { return nil }
        return Double(self.movedBytes - first.moved) / ((now - first.at) / .seconds(1))
    }

    /// The time it takes on; `nil` when nobody can say.
    func remaining(at now: Duration) -> Duration? {
        guard let rate = self.rate(at: now), rate >= 1 else { return nil }
        return .seconds(Double(self.knownBytes - self.doneBytes) / rate)
    }
}
