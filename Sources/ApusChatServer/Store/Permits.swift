import NIOConcurrencyHelpers

/// A limit for concurrent operations. Operations beyond it are refused immediately instead of
/// queued.
final class Permits: Sendable {
    private let maximum: Int
    private let taken = NIOLockedValueBox(0)

    init(_ maximum: Int) { self.maximum = maximum }

    /// Takes a permit, which must be returned once. Returns `false` at the limit.
    func take() -> Bool {
        self.taken.withLockedValue { count in
            guard count < self.maximum else { return false }
            count += 1
            return true
        }
    }

    func giveBack() { self.taken.withLockedValue { $0 -= 1 } }
}
