/// Counts the unread messages of one conversation between two reports of the server.
///
/// The server reports the number of unread messages together with the ordinal of the newest message
/// that it counted. The counter adds the messages after that ordinal, without the user's messages
/// and hidden ones. Therefore, the order in which an answer and a push arrive does not affect the
/// number.
struct UnreadCounter: Sendable {
    /// The ordinal of the newest message that the server counted.
    private(set) var n: Int64
    /// The read position from which the server counted.
    private(set) var read: Int64
    private var unread: Int64
    /// The ordinals of the user's messages and of hidden ones, ascending.
    private var skipped: [Int64] = []
    /// The maximum number of stored ordinals. The server's next report includes the older ones.
    private static let maximumSkipped = 256

    init(n: Int64, read: Int64, unread: Int64) {
        self.n = n
        self.read = read
        self.unread = unread
    }

    /// Applies a report of the server, unless it is older than the previous one. Neither the
    /// ordinal nor the read position of a report decreases.
    mutating func told(n: Int64, read: Int64, unread: Int64) {
        guard n >= self.n, read >= self.read else { return }
        (self.n, self.read, self.unread) = (n, read, unread)
    }

    /// Applies a report that is valid although its numbers may be lower, such as a report in a
    /// sync.
    mutating func reset(n: Int64, read: Int64, unread: Int64) { (self.n, self.read, self.unread) = (n, read, unread) }

    /// Records a message that does not count as unread.
    mutating func skip(_ n: Int64) {
        guard let last = self.skipped.last, last >= n else {
            self.skipped.append(n)
            if self.skipped.count > Self.maximumSkipped { self.skipped.removeFirst() }
            return
        }
        guard let index = self.skipped.firstIndex(where: { $0 >= n }), self.skipped[index] != n else { return }
        self.skipped.insert(n, at: index)
    }

    /// Returns the number of unread messages.
    /// - Parameters:
    ///   - read: The user's read position, which may be above the server's.
    ///   - last: The ordinal of the newest message.
    func count(read: Int64, last: Int64) -> Int64 {
        let above = self.countable(above: max(self.n, read), through: last)
        if read <= self.read { return self.unread + above }
        // Between two messages that the server counted, the result is an upper bound: the user's
        // messages and hidden ones may not be known here.
        return min(self.unread, self.countable(above: read, through: self.n)) + above
    }

    private func countable(above low: Int64, through high: Int64) -> Int64 {
        guard high > low else { return 0 }
        return high - low - Int64(self.skipped.count { $0 > low && $0 <= high })
    }
}
