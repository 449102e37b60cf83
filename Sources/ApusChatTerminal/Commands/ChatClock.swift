package import Foundation

/// The time and the words for it.
package struct ChatClock: Sendable {
    /// The time, in milliseconds since 1970.
    package var now: @Sendable () -> Int64
    /// The calendar, with its time zone.
    package var calendar: Calendar

    package init(now: @escaping @Sendable () -> Int64, calendar: Calendar) {
        self.now = now
        self.calendar = calendar
    }

    /// The system's clock and time zone.
    package static var system: Self {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .current
        return Self(now: { Int64(Date().timeIntervalSince1970 * 1_000) }, calendar: calendar)
    }

    private func parts(_ milliseconds: Int64) -> DateComponents {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        return self.calendar.dateComponents([.year, .month, .day, .hour, .minute, .weekday], from: date)
    }

    private static func digits(_ number: Int?, _ count: Int = 2) -> String {
        let text = String(number ?? 0)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    /// The hours and minutes.
    package func time(_ milliseconds: Int64) -> String {
        let parts = self.parts(milliseconds)
        return Self.digits(parts.hour) + ":" + Self.digits(parts.minute)
    }

    /// The day, as in `Tue 2026-11-24`.
    package func day(_ milliseconds: Int64) -> String {
        let parts = self.parts(milliseconds)
        let names = ["", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let weekday = parts.weekday.flatMap { names.indices.contains($0) ? names[$0] : nil } ?? ""
        return "\(weekday) \(Self.digits(parts.year, 4))-\(Self.digits(parts.month))-\(Self.digits(parts.day))"
    }

    /// The day and the time; today, the time only.
    package func moment(_ milliseconds: Int64) -> String {
        let day = self.day(milliseconds)
        return day == self.day(self.now()) ? self.time(milliseconds) : "\(day) \(self.time(milliseconds))"
    }

    /// The time that a user writes as `+30m`, `18:00` (the next one) or `2026-12-24T18:00`.
    package func parse(_ text: String) -> Int64? {
        if text.hasPrefix("+") {
            guard let seconds = Self.seconds(String(text.dropFirst())), seconds > 0 else { return nil }
            return self.now() + seconds * 1_000
        }
        let halves = text.split(separator: "T").map(String.init)
        guard let clock = halves.last, halves.count <= 2 else { return nil }
        let time = clock.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard time.count == 2, (0..<24).contains(time[0]), (0..<60).contains(time[1]) else { return nil }
        var parts = self.parts(self.now())
        (parts.hour, parts.minute, parts.weekday) = (time[0], time[1], nil)
        if halves.count == 2 {
            let day = halves[0].split(separator: "-", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
            guard day.count == 3, (1_970...9_999).contains(day[0]), (1...12).contains(day[1]), (1...31).contains(day[2]) else { return nil }
            (parts.year, parts.month, parts.day) = (day[0], day[1], day[2])
        }
        guard var date = self.calendar.date(from: parts) else { return nil }
        if halves.count == 1, Int64(date.timeIntervalSince1970 * 1_000) <= self.now() {
            guard let next = self.calendar.date(byAdding: .day, value: 1, to: date) else { return nil }
            date = next
        }
        return Int64(date.timeIntervalSince1970 * 1_000)
    }

    /// The seconds of a time such as `45`, `30m`, `8h` or `7d`.
    package static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        let unit = text.last.flatMap { units[$0] }
        guard let number = Int64(unit == nil ? text : String(text.dropLast())), (0...100_000_000).contains(number) else { return nil }
        return number * (unit ?? 1)
    }
}
