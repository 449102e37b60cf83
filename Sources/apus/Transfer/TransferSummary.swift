/// The state of a run of transfers: the files in progress, the totals and the rate. The caller
/// passes the current time to the methods.
struct TransferSummary {
    struct File: Hashable {
        var name: String
        var size: Int
        /// The number of bytes on the receiver's disk.
        var done: Int
        /// The offset at which the transfer began or resumed.
        var offset: Int
        /// The time of the file's last progress line.
        var reportedAt: Duration
        /// Whether the receiver is still checking for a partial file.
        var isCompared = false
    }

    /// The files in progress with their keys, in the order in which they began.
    private(set) var files: [(key: String, file: File)] = []
    /// The number of completed files.
    private(set) var completed = 0
    /// The total size of the completed files, in bytes.
    private(set) var completedBytes = 0
    private(set) var failed = 0
    /// The number of all files, if known in advance.
    var totalFiles: Int?
    /// The size of all files in bytes, if known in advance.
    var totalBytes: Int?
    /// The number of bytes transferred in this run.
    private(set) var movedBytes = 0
    private(set) var beganAt: Duration?
    /// The values of `movedBytes` in the last seconds, the newest last.
    private var samples: [(at: Duration, moved: Int)] = []

    /// The period over which the rate is averaged.
    static let rateSpan = Duration.seconds(5)

    // MARK: Events

    mutating func began(_ key: String, name: String, size: Int, offset: Int, at now: Duration) {
        if self.beganAt == nil { self.beganAt = now }
        self.files.removeAll { $0.key == key }  // restarted
        self.files.append((key, File(name: name, size: size, done: offset, offset: offset, reportedAt: now)))
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

    /// Removes a file from the files in progress, and counts it as completed or failed.
    ///
    /// - Returns: The last state of the file; `nil` if its transfer never began.
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

    /// Removes the files in progress on a lost connection. Their transfers begin again.
    mutating func forget(where isGone: (String) -> Bool) {
        self.files.removeAll { isGone($0.key) }
    }

    /// Returns whether a progress line is due for a file. If it is, records the current time.
    mutating func tells(_ key: String, every interval: Duration, at now: Duration) -> Bool {
        guard let index = self.index(key), now - self.files[index].file.reportedAt >= interval else { return false }
        self.files[index].file.reportedAt = now
        return true
    }

    private func index(_ key: String) -> Int? { self.files.firstIndex { $0.key == key } }

    private mutating func sample(at now: Duration) {
        // At most ten samples per second limit the length of the list.
        guard let last = self.samples.last else { return self.samples.append((self.beganAt ?? now, 0)) }
        if now - last.at >= .milliseconds(100) { self.samples.append((now, self.movedBytes)) }
        while self.samples.count > 2, now - self.samples[1].at > Self.rateSpan { self.samples.removeFirst() }
    }

    // MARK: Totals

    /// The number of bytes of completed files and of files in progress on the receiver's disk.
    var doneBytes: Int { self.files.reduce(self.completedBytes) { $0 + $1.file.done } }

    /// The known size of all files, in bytes.
    var knownBytes: Int { max(self.totalBytes ?? 0, self.files.reduce(self.completedBytes) { $0 + $1.file.size }) }

    /// Returns the rate in bytes per second over the last seconds; `nil` in the first half second.
    func rate(at now: Duration) -> Double? {
        guard let first = self.samples.first, now - first.at >= .milliseconds(500) else { return nil }
        return Double(self.movedBytes - first.moved) / ((now - first.at) / .seconds(1))
    }

    /// Returns the estimated remaining time; `nil` if the rate is unknown or below 1 byte per
    /// second.
    func remaining(at now: Duration) -> Duration? {
        guard let rate = self.rate(at: now), rate >= 1 else { return nil }
        return .seconds(Double(self.knownBytes - self.doneBytes) / rate)
    }
}
