/// A date as JavaScript's `toString` writes it in UTC: `Sat Nov 21 2026 19:10:26 GMT+0000
/// (Coordinated Universal Time)`.
///
/// Every socket needs a date, and a formatter takes about a hundred times as long as this
/// arithmetic.
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
package struct JavaScriptDate: CustomStringConvertible {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]  // 1970 began on a Thursday
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    /// The limit of ECMAScript dates in milliseconds: 100,000,000 days before and after 1970.
    private static let maximum: Int64 = 8_640_000_000_000_000

    package let description: String

    package init(millisecondsSince1970 milliseconds: Int64) {
        guard (-Self.maximum...Self.maximum).contains(milliseconds) else {
            self.description = "Invalid Date"
            return
        }
        let (days, second) = Self.divide(Self.divide(milliseconds, by: 1000).quotient, by: 86_400)
        // Years begin in March, so that a leap day is the last day of a year. 719,468 days lie
        // between 1 March of year 0 and 1970.
        let (era, dayOfEra) = Self.divide(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 2 : monthFromMarch - 10
        let year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
        let weekday = Self.weekdays[Int(Self.divide(days, by: 7).remainder)]
        let time = [second / 3600, second / 60 % 60, second % 60].map { Self.padded($0, to: 2) }.joined(separator: ":")
        let years = (year < 0 ? "-" : "") + Self.padded(abs(year), to: year < 0 ? 6 : 4)
        self.description =
            "\(weekday) \(Self.months[Int(month)]) \(Self.padded(day, to: 2)) \(years) \(time) GMT+0000 (Coordinated Universal Time)"
    }

    /// Divides with rounding towards negative infinity, for dates before 1970.
    private static func divide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ number: Int64, to width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
