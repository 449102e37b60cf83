import ApusChatClient
import ApusChatProtocol

/// The rows of the open conversation that the terminal shows, and the position up to which its
/// messages count as read.
///
/// A message counts as read when this message and all earlier unread messages were shown.
struct ChatRows {
    /// The relation of a row to the rows on the screen.
    enum News: Equatable {
        /// The row was not shown.
        case new
        /// The row was shown with other content.
        case changed
        /// The row was shown with the same content.
        case known
        /// The row is older than the last row on the screen, and was not shown.
        case earlier
    }

    private static let maximumRows = 1_000

    /// The rows by their position in the log.
    private var rows: [Int64: ChatMessage] = [:]
    /// The position of the first row on the screen.
    private(set) var first: Int64?
    /// The position of the last row on the screen.
    private(set) var last: Int64 = 0
    /// The ordinal of the last read message.
    private(set) var readThrough: Int64 = 0
    /// The last read message that was shown; `nil` before the first.
    private(set) var lastRead: ChatMessage?
    /// Whether the rows continue without a gap.
    var isComplete = true

    init(readThrough: Int64 = 0) { self.readThrough = readThrough }

    func news(of row: ChatMessage) -> News {
        let seq = row.event.seq
        if let known = self.rows[seq] {
            let isSame = known.event.body == row.event.body && known.event.state == row.event.state
            return isSame && known.event.reactions == row.event.reactions ? .known : .changed
        }
        return seq > self.last ? .new : .earlier
    }

    /// Records that a row is on the screen.
    mutating func shown(_ row: ChatMessage) {
        let seq = row.event.seq
        guard seq > 0 else { return }
        if self.rows.count >= Self.maximumRows, let oldest = self.rows.keys.min() { self.rows[oldest] = nil }
        self.rows[seq] = row
        self.first = min(self.first ?? seq, seq)
        self.last = max(self.last, seq)
        if self.isComplete, let n = row.event.n, n > self.readThrough {
            self.readThrough = n
            self.lastRead = row
        }
    }

    /// The rows in the order of the log.
    var all: [ChatMessage] { self.rows.values.sorted { $0.event.seq < $1.event.seq } }

    subscript(seq: Int64) -> ChatMessage? { self.rows[seq] }

    /// Returns the newest row that satisfies a condition.
    func newest(where condition: (ChatMessage) -> Bool) -> ChatMessage? {
        self.rows.values.filter(condition).max { $0.event.seq < $1.event.seq }
    }
}
