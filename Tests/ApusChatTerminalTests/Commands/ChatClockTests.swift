import Foundation
import Testing

@testable import ApusChatTerminal

@Suite("Clock of the chat")
struct ChatClockTests {
    /// 2026-11-24 11:30:00 in UTC.
    private static let now: Int64 = 1_795_519_800_000

    private var clock: ChatClock {
        get throws {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
            return ChatClock(now: { Self.now }, calendar: calendar)
        }
    }

    @Test func timesAreReported() throws {
        let clock = try self.clock
        #expect(clock.time(Self.now) == "11:30")
        #expect(clock.day(Self.now) == "Tue 2026-11-24")
        #expect(clock.moment(Self.now) == "11:30")
        #expect(clock.moment(Self.now - 86_400_000) == "Mon 2026-11-23 11:30")
    }

    @Test(arguments: [
        ("+30m", 1_800), ("+45", 45), ("+2h", 7_200), ("+1d", 86_400), ("12:00", 1_800), ("11:30", 86_400), ("09:30", 79_200),
        ("2026-11-24T12:30", 3_600), ("2026-12-24T11:30", 30 * 86_400),
    ])
    func aTimeIsParsed(text: String, seconds: Int64) throws {
        #expect(try self.clock.parse(text) == Self.now + seconds * 1_000)
    }

    @Test(arguments: [
        "", "+", "+0", "+-5", "soon", "24:00", "12:60", "12", "12:00:00", "2026-13-01T10:00", "2026-11T10:00", "+99999999999999999999",
    ])
    func otherTextsAreNotTimes(text: String) throws { #expect(try self.clock.parse(text) == nil) }

    @Test func durationsHaveUnits() {
        #expect(ChatClock.seconds("7d") == 604_800)
        #expect(ChatClock.seconds("0") == 0)
        #expect(ChatClock.seconds("x") == nil)
        #expect(ChatClock.seconds("-1") == nil)
    }
}
