import ApusJSON
import Foundation

/// A date as the timestamp extension has it: whole seconds since 1970, and the nanoseconds behind them.
///
/// Source: the MessagePack specification, "Timestamp extension type".
struct MessagePackTimestamp: Equatable {
    var seconds: Int64
    /// Below 1,000,000,000, unless a peer sent more.
    var nanoseconds: UInt32

    init(seconds: Int64, nanoseconds: UInt32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// The coarsest of milliseconds, microseconds and nanoseconds that reads back as the same date: a `Date` is binary, and one of
    /// JavaScript's with 0.123 seconds would arrive there with 0.122999906. `nil` for a date beyond 64 bits of seconds.
    init?(_ date: Date) {
        let time = date.timeIntervalSince1970
        guard let seconds = Int64(exactly: time.rounded(.down)) else { return nil }
        let fraction = time - Double(seconds)
        var timestamp = Self(seconds: seconds)
        for unit in [1_000_000, 1_000, 1] as [Double] where timestamp.date != date {
            let nanoseconds = (fraction * 1e9 / unit).rounded() * unit
            let (next, isTooLarge) = seconds.addingReportingOverflow(1)
            guard !isTooLarge else { return nil }
            timestamp = nanoseconds < 1e9 ? Self(seconds: seconds, nanoseconds: UInt32(nanoseconds)) : Self(seconds: next)
        }
        self = timestamp
    }

    /// The date, rounded to what a `Date` can hold.
    var date: Date { Date(timeIntervalSince1970: Double(self.seconds) + Double(self.nanoseconds) / 1e9) }

    /// The date as a value; null for one beyond JavaScript's calendar.
    var value: SocketIOValue { (try? JSONValueEncoder().encode(self.date)) ?? .null }
}
