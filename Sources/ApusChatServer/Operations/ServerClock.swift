import ApusChatCore
import ApusChatHTTP
import Foundation
import Logging
import NIOConcurrencyHelpers

/// The clocks of the system. Tests replace them.
package struct SystemClock: Sendable {
    /// Returns the time of the wall clock, in milliseconds since 1970.
    package var wall: @Sendable () -> Int64
    /// Returns the time of a monotonic clock, in milliseconds.
    package var monotonic: @Sendable () -> Int64

    package init(wall: @escaping @Sendable () -> Int64, monotonic: @escaping @Sendable () -> Int64) {
        self.wall = wall
        self.monotonic = monotonic
    }

    private static let start = ContinuousClock.now

    /// The clocks of this machine.
    package static let machine = SystemClock(
        wall: { Int64(Date().timeIntervalSince1970 * 1_000) },
        monotonic: { Int64((ContinuousClock.now - start) / .milliseconds(1)) })
}

/// The clock of a server. It ignores jumps of the wall clock as `StampClock` describes, including
/// jumps while the server does not run.
///
/// The file `chat.clock` in the data folder contains the last trusted time.
struct ServerClock: Sendable {
    private let system: SystemClock
    private let path: String
    private let stamps: NIOLockedValueBox<StampClock>

    /// - Parameter folder: The data folder.
    init(_ system: SystemClock, folder: String) {
        self.system = system
        self.path = folder + "/chat.clock"
        self.stamps = .init(StampClock(wall: system.wall(), monotonic: system.monotonic(), mark: Self.mark(in: folder)))
    }

    /// Returns the last trusted time of an earlier run; nil if there is no valid one.
    static func mark(in folder: String) -> Int64? {
        guard let text = try? String(contentsOfFile: folder + "/chat.clock", encoding: .utf8) else { return nil }
        return Int64(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    func read() -> StampClock.Reading {
        let (wall, monotonic) = (self.system.wall(), self.system.monotonic())
        return self.stamps.withLockedValue { $0.read(wall: wall, monotonic: monotonic) }
    }

    /// The clocks for accounts. Like the time stamps of messages, their time ignores jumps of the
    /// wall clock.
    var forAccounts: AccountsClock {
        AccountsClock(now: { self.read().time }, elapsed: self.system.monotonic, isTrusted: { self.read().isTrusted })
    }

    /// Writes the current time for the next run, if the time is trusted.
    func writeMark() {
        let now = self.read()
        guard now.isTrusted else { return }
        try? Data("\(now.time)\n".utf8).write(to: URL(fileURLWithPath: self.path), options: .atomic)
    }

    /// Writes the current time every minute until the task is cancelled. Logs a persistent jump
    /// once.
    func run(_ logger: Logger) async {
        var isReported = false
        repeat {
            self.writeMark()
            let hasLeapt = self.stamps.withLockedValue { $0.hasLeapt }
            if hasLeapt, !isReported {
                logger.warning("The wall clock jumped by more than a day and is ignored. Restart the server if the clock is correct.")
            }
            isReported = hasLeapt
        } while (try? await Task.sleep(for: .seconds(60))) != nil
    }
}
