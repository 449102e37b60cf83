import ApusBytes
import ApusChatClient
package import Foundation

/// Provides the current time, and formats and parses times.
package struct ChatClock: Sendable {
    /// Returns the current time, in milliseconds since 1970.
    package var now: @Sendable () -> Int64
    /// The calendar, which determines the time zone.
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

    /// Returns the hours and minutes of a time, as in `18:05`.
    package func time(_ milliseconds: Int64) -> String {
        let parts = self.parts(milliseconds)
        return Self.digits(parts.hour) + ":" + Self.digits(parts.minute)
    }

    /// Returns the day of a time, as in `Tue 2026-11-24`.
    package func day(_ milliseconds: Int64) -> String {
        let parts = self.parts(milliseconds)
        let names = ["", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let weekday = parts.weekday.flatMap { names.indices.contains($0) ? names[$0] : nil } ?? ""
        return "\(weekday) \(Self.digits(parts.year, 4))-\(Self.digits(parts.month))-\(Self.digits(parts.day))"
    }

    /// Returns the day and the time of day; for the current day, only the time of day.
    package func moment(_ milliseconds: Int64) -> String {
        let day = self.day(milliseconds)
        return day == self.day(self.now()) ? self.time(milliseconds) : "\(day) \(self.time(milliseconds))"
    }

    /// Returns the minutes after midnight UTC of a local time such as `22:00`; nil if the text is
    /// not valid.
    func minute(ofDay text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int64(digits: $0) ?? -1 }
        guard parts.count == 2, (0..<24).contains(parts[0]), (0..<60).contains(parts[1]) else { return nil }
        return (parts[0] * 60 + parts[1] - self.offset + 2_880) % 1_440
    }

    /// Returns the local time of day of a number of minutes after midnight UTC.
    func time(ofDay minutes: Int64) -> String {
        let local = Int((minutes % 1_440 + self.offset + 2_880) % 1_440)
        return Self.digits(local / 60) + ":" + Self.digits(local % 60)
    }

    /// The difference between local time and UTC, in minutes.
    private var offset: Int64 {
        Int64(self.calendar.timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(self.now()) / 1_000)) / 60)
    }

    /// Parses a time that a user types, such as `+30m`, `18:00` or `2026-12-24T18:00`; nil if the
    /// text is not valid. A time of day is the next such time.
    package func parse(_ text: String) -> Int64? {
        if text.hasPrefix("+") {
            guard let seconds = Self.seconds(String(text.dropFirst())), seconds > 0 else { return nil }
            return self.now() + seconds * 1_000
        }
        let halves = text.split(separator: "T", omittingEmptySubsequences: false).map(String.init)
        guard let clock = halves.last, halves.count <= 2 else { return nil }
        let time = clock.split(separator: ":", omittingEmptySubsequences: false).map { Int(digits: $0) ?? -1 }
        guard time.count == 2, (0..<24).contains(time[0]), (0..<60).contains(time[1]) else { return nil }
        var parts = self.parts(self.now())
        (parts.hour, parts.minute, parts.weekday) = (time[0], time[1], nil)
        if halves.count == 2 {
            let day = halves[0].split(separator: "-", omittingEmptySubsequences: false).map { Int(digits: $0) ?? -1 }
            guard day.count == 3, (1_970...9_999).contains(day[0]), (1...12).contains(day[1]), (1...31).contains(day[2]) else { return nil }
            (parts.year, parts.month, parts.day) = (day[0], day[1], day[2])
        }
        // The calendar converts 30 February to 2 March, so the day of the result is compared.
        guard var date = self.calendar.date(from: parts), self.calendar.component(.day, from: date) == parts.day else { return nil }
        if halves.count == 1, Int64(date.timeIntervalSince1970 * 1_000) <= self.now() {
            guard let next = self.calendar.date(byAdding: .day, value: 1, to: date) else { return nil }
            date = next
        }
        return Int64(date.timeIntervalSince1970 * 1_000)
    }

    /// Parses a time in the past: the beginning of a day such as `2026-11-24`, a time of that day
    /// such as `2026-11-24T18:00`, or a duration before the current time such as `7d`.
    func past(_ text: String) throws(ChatClientError) -> Int64 {
        if let seconds = Self.seconds(text), text.last?.isLetter == true { return self.now() - seconds * 1_000 }
        guard let time = self.parse(text.contains("T") ? text : text + "T00:00") else {
            throw ChatClientError(
                .invalidUse, message: "\"\(ChatText.harmless(text))\" is not a time, such as 2026-11-24, 2026-11-24T18:00 or 7d")
        }
        return time
    }

    /// Parses a duration such as `45`, `30m`, `8h` or `7d` to seconds; nil if the text is not
    /// valid.
    package static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        let unit = text.last.flatMap { units[$0] }
        guard let number = Int64(digits: unit == nil ? text[...] : text.dropLast()), (0...100_000_000).contains(number) else { return nil }
        return number * (unit ?? 1)
    }
}
