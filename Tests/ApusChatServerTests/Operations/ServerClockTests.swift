import ApusChatCore
import ApusChatHTTP
import Foundation
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatServer

/// The clock of a server and its mark on the disk, between the runs of the program.
@Suite("Clock of the server")
struct ServerClockTests {
    private static let now: Int64 = 1_795_519_800_000
    private static let day: Int64 = 86_400_000

    /// A wall clock and a monotonic clock that the test sets.
    private final class Hands: Sendable {
        let wall = NIOLockedValueBox(ServerClockTests.now)
        let monotonic = NIOLockedValueBox(Int64(0))

        var clock: SystemClock {
            SystemClock(wall: { self.wall.withLockedValue { $0 } }, monotonic: { self.monotonic.withLockedValue { $0 } })
        }

        /// Lets time pass on both clocks.
        func pass(_ milliseconds: Int64) {
            self.wall.withLockedValue { $0 += milliseconds }
            self.monotonic.withLockedValue { $0 += milliseconds }
        }
    }

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    @Test(
        arguments: [
            (nil, nil), ("", nil), ("\n", nil), ("1795519800000", now), ("1795519800000\n", now), (" 1795519800000 \r\n", now), ("0", 0),
            ("-5", -5), ("1795519800000.5", nil), ("1e12", nil), ("yesterday", nil), ("1795519800000 1", nil), ("９", nil),
            ("9223372036854775807", .max), ("9223372036854775808", nil), ("\u{0}", nil),
        ] as [(String?, Int64?)])
    func aMarkIsANumberOrNone(content: String?, mark: Int64?) throws {
        try self.withFolder { folder in
            if let content { try Data(content.utf8).write(to: URL(fileURLWithPath: folder + "/chat.clock")) }
            #expect(ServerClock.mark(in: folder) == mark)
        }
    }

    @Test func bytesThatAreNotTextAreNotMark() throws {
        try self.withFolder { folder in
            try Data([0xFF, 0xFE, 0x31]).write(to: URL(fileURLWithPath: folder + "/chat.clock"))
            #expect(ServerClock.mark(in: folder) == nil)
        }
        #expect(ServerClock.mark(in: "/no/such/folder") == nil)
    }

    /// The distance of the wall clock from the mark at the start, and whether ages are believed.
    @Test(
        arguments: [
            (0, true), (1, true), (day, true), (day + 1, false), (-1_000, true), (-1_001, false), (-day, false), (400 * day, false),
            (.min / 2, false),
        ] as [(Int64, Bool)])
    func aStartLongAfterOrBeforeTheMarkIsNotTrusted(distance: Int64, isTrusted: Bool) throws {
        try self.withFolder { folder in
            let hands = Hands()
            try Data("\(Self.now &- distance)".utf8).write(to: URL(fileURLWithPath: folder + "/chat.clock"))
            let clock = ServerClock(hands.clock, folder: folder)
            #expect(clock.read() == StampClock.Reading(time: Self.now, isTrusted: isTrusted))
            #expect(clock.forAccounts.isTrusted() == isTrusted && clock.forAccounts.now() == Self.now)
            // The probation ends after an hour.
            hands.pass(StampClock.probationTime)
            #expect(clock.read().isTrusted && clock.forAccounts.elapsed() == StampClock.probationTime)
        }
    }

    /// A mark is written only while the time is trusted, so that the next run does not believe a
    /// jump.
    @Test func aClockJumpIsNotStored() throws {
        try self.withFolder { folder in
            let hands = Hands()
            let clock = ServerClock(hands.clock, folder: folder)
            clock.writeMark()
            #expect(ServerClock.mark(in: folder) == Self.now)
            hands.pass(60_000)
            clock.writeMark()
            #expect(ServerClock.mark(in: folder) == Self.now + 60_000)
            hands.wall.withLockedValue { $0 += 400 * Self.day }
            #expect(!clock.read().isTrusted && clock.read().time == Self.now + 60_000)
            clock.writeMark()
            hands.pass(3_600_000)
            clock.writeMark()
            #expect(ServerClock.mark(in: folder) == Self.now + 60_000, "a jump of more than a day is never followed")
            // The next run does not believe the clock either.
            #expect(!ServerClock(hands.clock, folder: folder).read().isTrusted)
            // The wall clock is set right again.
            hands.wall.withLockedValue { $0 -= 400 * Self.day }
            clock.writeMark()
            #expect(ServerClock.mark(in: folder) == Self.now + 3_660_000)
            #expect(ServerClock(hands.clock, folder: folder).read().isTrusted)
        }
    }

    /// A folder that cannot be written costs the mark, and not the server.
    @Test func aMarkThatCannotBeWrittenIsSkipped() {
        let clock = ServerClock(Hands().clock, folder: "/no/such/folder")
        clock.writeMark()
        #expect(clock.read().isTrusted && ServerClock.mark(in: "/no/such/folder") == nil)
    }
}
