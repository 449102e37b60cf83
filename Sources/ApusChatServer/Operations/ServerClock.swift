import ApusChatCore
import ApusChatHTTP
import Foundation
import NIOConcurrencyHelpers

/// The clocks of a server, which a leap of the system's clock does not mislead.
struct ServerClock: Sendable {
    private static let start = ContinuousClock.now

    /// Milliseconds since 1970, as the system says.
    static func wall() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// Milliseconds of a clock that never jumps.
    static func monotonic() -> Int64 { Int64((ContinuousClock.now - self.start) / .milliseconds(1)) }

    /// The clock of accounts. Its time is that of the stamps of messages.
    static func forAccounts() -> AccountsClock {
        let stamps = NIOLockedValueBox(StampClock(wall: Self.wall(), monotonic: Self.monotonic()))
        let read: @Sendable () -> (Int64, Bool) = {
            stamps.withLockedValue { stamps in
                let time = stamps.stamp(wall: Self.wall(), monotonic: Self.monotonic())
                return (time, stamps.isTrusted)
            }
        }
        return AccountsClock(now: { read().0 }, elapsed: { Self.monotonic() }, isTrusted: { read().1 })
    }
}
