import ApusJSON
import Foundation

/// A date in the format of the timestamp extension: whole seconds since 1970, and nanoseconds.
///
/// Source: the MessagePack specification, "Timestamp extension type".
struct MessagePackTimestamp: Equatable {
    var seconds: Int64
    /// The nanoseconds after `seconds`. Less than 1,000,000,000, unless a peer sent a larger value.
    var nanoseconds: UInt32

    init(seconds: Int64, nanoseconds: UInt32 = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Converts a date; `nil` if its seconds exceed 64 bits.
    ///
    /// The result has the coarsest precision (milliseconds, microseconds or nanoseconds) that
    /// converts back to the same date. A `Date` is a binary fraction: with a fixed
    /// precision of nanoseconds, 0.123 seconds would become 0.122999906.
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

    /// The date, rounded to the precision of `Date`.
    var date: Date { Date(timeIntervalSince1970: Double(self.seconds) + Double(self.nanoseconds) / 1e9) }

    /// The date as a value; null if it is outside of JavaScript's range.
    var value: SocketIOValue { (try? JSONValueEncoder().encode(self.date)) ?? .null }
}
