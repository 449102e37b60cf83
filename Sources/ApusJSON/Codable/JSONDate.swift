import struct Foundation.Date

/// Converts dates to and from the JSON format of JavaScript.
///
/// Source: ECMA-262, "Date Time String Format" (`YYYY-MM-DDTHH:mm:ss.sssZ`, with a sign and six
/// digits for years outside 0…9999), and RFC 3339. Foundation's ISO 8601 style either requires a
/// fraction of a second or rejects one, and so cannot parse both kinds of text.
enum JSONDate {
    /// The largest time value of ECMA-262, in milliseconds.
    private static let largest = 8.64e15
    private static let day: Int64 = 86_400_000

    /// Returns whether a date is within JavaScript's range.
    static func holds(_ date: Date) -> Bool { (date.timeIntervalSince1970 * 1000).rounded().magnitude <= self.largest }

    /// Returns the text of a date, rounded to milliseconds; `nil` if the date is outside of
    /// JavaScript's range.
    static func text(of date: Date) -> String? {
        guard Self.holds(date) else { return nil }
        let milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded())
        let time = (milliseconds % Self.day + Self.day) % Self.day
        let (year, month, dayOfMonth) = Self.civil(days: (milliseconds - time) / Self.day)
        let yearText = (0...9999).contains(year) ? Self.padded(year, 4) : (year < 0 ? "-" : "+") + Self.padded(abs(year), 6)
        let clock = "\(Self.padded(time / 3_600_000, 2)):\(Self.padded(time / 60_000 % 60, 2)):\(Self.padded(time / 1000 % 60, 2))"
        return "\(yearText)-\(Self.padded(month, 2))-\(Self.padded(dayOfMonth, 2))T\(clock).\(Self.padded(time % 1000, 3))Z"
    }

    /// Returns the date of a text; `nil` if the text is malformed, has a time without a zone, names
    /// a day that does not exist, or is outside of JavaScript's range. A text without a time is
    /// midnight in UTC.
    static func date(from text: String) -> Date? {
        var scanner = Scanner(rest: Array(text.utf8)[...])
        let sign = scanner.take(anyOf: "+-")
        guard let year = scanner.number(digits: sign == nil ? 4 : 6), scanner.take(anyOf: "-") != nil,
            let month = scanner.number(digits: 2), (1...12).contains(month), scanner.take(anyOf: "-") != nil,
            let dayOfMonth = scanner.number(digits: 2)
        else { return nil }
        let signedYear = sign == UInt8(ascii: "-") ? -year : year
        let days = Self.days(year: signedYear, month: month, day: dayOfMonth)
        guard Self.civil(days: days) == (signedYear, month, dayOfMonth) else { return nil }
        if scanner.rest.isEmpty { return Self.date(milliseconds: days * Self.day, nanoseconds: 0) }  // a date alone is midnight in UTC

        guard scanner.take(anyOf: "Tt ") != nil, let hour = scanner.number(digits: 2), hour < 24, scanner.take(anyOf: ":") != nil,
            let minute = scanner.number(digits: 2), minute < 60
        else { return nil }
        var second: Int64 = 0
        var nanosecond: Int64 = 0
        if scanner.take(anyOf: ":") != nil {
            guard let value = scanner.number(digits: 2), value < 60 else { return nil }
            second = value
            if scanner.take(anyOf: ".,") != nil {
                guard let fraction = scanner.fraction() else { return nil }
                nanosecond = fraction
            }
        }
        guard let offset = scanner.zone(), scanner.rest.isEmpty else { return nil }
        let time = ((hour * 60 + minute - offset) * 60 + second) * 1000
        return Self.date(milliseconds: days * Self.day + time + nanosecond / 1_000_000, nanoseconds: nanosecond % 1_000_000)
    }

    /// Divides whole milliseconds once, so that parsing restores the exact `Double` of a date.
    private static func date(milliseconds: Int64, nanoseconds: Int64) -> Date? {
        guard Double(milliseconds).magnitude <= Self.largest else { return nil }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000 + Double(nanoseconds) / 1e9)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Converts days since 1970 to the Gregorian calendar. Source: H. Hinnant, "chrono-Compatible
    /// Low-Level Date Algorithms", `civil_from_days`.
    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    /// Converts a date of the Gregorian calendar to days since 1970. Source: H. Hinnant,
    /// "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension JSONDate {
    /// Consumes a text from its start.
    private struct Scanner {
        var rest: ArraySlice<UInt8>

        mutating func take(anyOf characters: StaticString) -> UInt8? {
            guard let byte = self.rest.first else { return nil }
            let isWanted = UnsafeBufferPointer(start: characters.utf8Start, count: characters.utf8CodeUnitCount).contains(byte)
            return isWanted ? self.rest.removeFirst() : nil
        }

        mutating func number(digits: Int) -> Int64? {
            guard self.rest.count >= digits else { return nil }
            var value: Int64 = 0
            for byte in self.rest.prefix(digits) {
                guard let digit = Self.digit(byte) else { return nil }
                value = value * 10 + digit
            }
            self.rest.removeFirst(digits)
            return value
        }

        /// Returns the fraction in nanoseconds. Digits after the ninth are ignored.
        mutating func fraction() -> Int64? {
            var value: Int64 = 0
            var count = 0
            while let byte = self.rest.first, let digit = Self.digit(byte) {
                if count < 9 { value = value * 10 + digit }
                count += 1
                self.rest.removeFirst()
            }
            guard count > 0 else { return nil }
            for _ in min(count, 9)..<9 { value *= 10 }
            return value
        }

        /// Returns the offset from UTC in minutes, from `Z`, `+08:00` or `+0800`.
        mutating func zone() -> Int64? {
            if self.take(anyOf: "Zz") != nil { return 0 }
            guard let sign = self.take(anyOf: "+-"), let hour = self.number(digits: 2), hour < 24 else { return nil }
            _ = self.take(anyOf: ":")
            guard let minute = self.number(digits: 2), minute < 60 else { return nil }
            return (sign == UInt8(ascii: "-") ? -1 : 1) * (hour * 60 + minute)
        }

        private static func digit(_ byte: UInt8) -> Int64? {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int64(byte - UInt8(ascii: "0")) : nil
        }
    }
}
