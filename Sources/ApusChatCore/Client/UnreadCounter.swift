/// Counts the unread messages of one conversation between two statements of the server.
///
/// The server tells the number of unread messages together with the ordinal of the newest message
/// that it counted. Messages above that ordinal are counted here, without own and hidden ones, so
/// that an answer and a push that cross give the same number in either order.
struct UnreadCounter: Sendable {
    /// The newest message that the server counted.
    private(set) var n: Int64
    /// The read position from which it counted.
    private(set) var read: Int64
    private var unread: Int64
    /// The ordinals of own and hidden messages, ascending.
    private var skipped: [Int64] = []
    /// The number of ordinals that are kept. The server's next statement includes older ones.
    private static let maximumSkipped = 256

    init(n: Int64, read: Int64, unread: Int64) {
        self.n = n
        self.read = read
        self.unread = unread
    }

    /// Takes a statement of the server, unless it is older than the one before: neither the
    /// ordinal nor the position of a member decreases.
    mutating func told(n: Int64, read: Int64, unread: Int64) {
        guard n >= self.n, read >= self.read else { return }
        (self.n, self.read, self.unread) = (n, read, unread)
    }

    /// Takes a statement that holds although its numbers may be lower.
    mutating func reset(n: Int64, read: Int64, unread: Int64) { (self.n, self.read, self.unread) = (n, read, unread) }

    /// A message that never counts arrived.
    mutating func skip(_ n: Int64) {
        guard let last = self.skipped.last, last >= n else {
            self.skipped.append(n)
            if self.skipped.count > Self.maximumSkipped { self.skipped.removeFirst() }
            return
        }
        guard let index = self.skipped.firstIndex(where: { $0 >= n }), self.skipped[index] != n else { return }
        self.skipped.insert(n, at: index)
    }

    /// The number of unread messages.
    /// - Parameters:
    ///   - read: The user's position, which may be above the one that the server knows.
    ///   - last: The newest message.
    func count(read: Int64, last: Int64) -> Int64 {
        let above = self.countable(above: max(self.n, read), through: last)
        if read <= self.read { return self.unread + above }
        // Between two messages that the server counted, the number is an upper bound: some may be
        // own or hidden without being known here.
        return min(self.unread, self.countable(above: read, through: self.n)) + above
    }

    private func countable(above low: Int64, through high: Int64) -> Int64 {
        guard high > low else { return 0 }
        return high - low - Int64(self.skipped.count { $0 > low && $0 <= high })
    }
}
