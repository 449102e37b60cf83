package import ApusChatProtocol
import Foundation

/// The non-deterministic inputs of the engine: the clock, the delays, the identifiers and the
/// random numbers.
package struct ChatEnvironment: Sendable {
    /// Returns the time in milliseconds since 1970, for timestamps, for expiry and for the time
    /// limits of calls. The order of messages is determined by the server, not by this clock.
    package var now: @Sendable () -> Int64
    package var sleep: @Sendable (Duration) async throws -> Void
    package var makeID: @Sendable () -> ClientID
    /// Returns a random number from 0 to 1.
    package var random: @Sendable () -> Double

    package init(
        now: @escaping @Sendable () -> Int64, sleep: @escaping @Sendable (Duration) async throws -> Void,
        makeID: @escaping @Sendable () -> ClientID, random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        self.now = now
        self.random = random
        self.sleep = sleep
        self.makeID = makeID
    }

    /// The clock, the delays and the random numbers of the system.
    package static let live = ChatEnvironment(
        now: { Self.milliseconds() }, sleep: { try await Task.sleep(for: $0) },
        makeID: {
            var generator = SystemRandomNumberGenerator()
            return Self.uuid7(at: Self.milliseconds(), high: generator.next(), low: generator.next())
        })

    private static func milliseconds() -> Int64 { Int64((Date().timeIntervalSince1970 * 1_000).rounded()) }

    /// Creates a UUID of version 7 (RFC 9562 section 5.7).
    static func uuid7(at time: Int64, high: UInt64, low: UInt64) -> ClientID {
        let first = UInt64(clamping: time) << 16 | 0x7000 | (high & 0x0FFF)
        let second = 0x8000_0000_0000_0000 | (low & 0x3FFF_FFFF_FFFF_FFFF)
        let digits = Self.hex(first) + Self.hex(second)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return ClientID(wireText: text) ?? Self.fallbackID
    }

    private static func hex(_ value: UInt64) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    private static var fallbackID: ClientID { preconditionFailure("a UUID is visible ASCII") }
}
