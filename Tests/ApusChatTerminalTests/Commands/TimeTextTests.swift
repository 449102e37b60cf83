import Foundation
import Testing

@testable import ApusChatTerminal

/// Times that a user types, as ASCII digits.
@Suite("Times of commands")
struct TimeTextTests {
    private func clock(_ zone: String, _ now: String) throws -> ChatClock {
        let milliseconds = Int64(try Date(now, strategy: .iso8601).timeIntervalSince1970 * 1_000)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        return ChatClock(now: { milliseconds }, calendar: calendar)
    }

    /// Quiet hours are minutes of a UTC day on the wire, and local times on the screen.
    @Test(arguments: [
        "UTC", "Asia/Shanghai", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Pacific/Auckland", "Pacific/Marquesas",
        "Pacific/Kiritimati", "Pacific/Niue",
    ])
    func everyMinuteOfADayIsReadAsItIsShown(zone: String) throws {
        for now in ["2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z"] {
            let clock = try self.clock(zone, now)
            var seen: Set<String> = []
            for minute in Int64(0)..<1_440 {
                let text = clock.time(ofDay: minute)
                seen.insert(text)
                #expect(clock.minute(ofDay: text) == minute, "\(text)")
            }
            #expect(seen.count == 1_440 && seen.contains("00:00") && seen.contains("23:59"))
        }
    }

    @Test(
        arguments: [
            ("Asia/Shanghai", "22:00", 840), ("Asia/Shanghai", "07:30", 1_410), ("America/New_York", "22:00", 180), ("UTC", "7:5", 425),
            ("Asia/Kolkata", "05:30", 0), ("Asia/Kathmandu", "00:00", 1_095),
        ] as [(String, String, Int64)])
    func localTimesAreMinutesOfUTC(zone: String, text: String, minute: Int64) throws {
        #expect(try self.clock(zone, "2026-01-15T12:00:00Z").minute(ofDay: text) == minute)
    }

    @Test(arguments: [
        "", ":", "7", "7:", ":30", "24:00", "23:60", "-1:00", "+7:00", "7:+5", "07:00:00", "07.00", "７:00", " 07:00", "07:00 ", "7:30pm",
    ])
    func otherTextsAreNotTimesOfDay(text: String) throws {
        #expect(try self.clock("UTC", "2026-01-15T12:00:00Z").minute(ofDay: text) == nil)
    }

    /// Any time that is shown for the next days is read as the minute in which it is.
    @Test(arguments: ["UTC", "Asia/Shanghai", "America/Sao_Paulo", "Asia/Kathmandu"])
    func aShownMomentIsReadBack(zone: String) throws {
        let clock = try self.clock(zone, "2026-11-24T09:30:00Z")
        var generator = SeededGenerator(5)
        for _ in 0..<300 {
            let time = clock.now() + Int64.random(in: 60_000...40 * 86_400_000, using: &generator)
            let text = String(clock.day(time).dropFirst(4)) + "T" + clock.time(time)
            #expect(clock.parse(text) == time / 60_000 * 60_000, "\(text)")
        }
    }
}
