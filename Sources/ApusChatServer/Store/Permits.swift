import NIOConcurrencyHelpers

/// So many at a time: whoever comes beyond is refused at once instead of waiting in a queue that grows.
final class Permits: Sendable {
    private let maximum: Int
    private let taken = NIOLockedValueBox(0)

    init(_ maximum: Int) { self.maximum = maximum }

    /// Takes one; each one taken is given back once. `false`: there is none left.
    func take() -> Bool {
        self.taken.withLockedValue { count in
            guard count < self.maximum else { return false }
            count += 1
            return true
        }
    }

    func giveBack() { self.taken.withLockedValue { $0 -= 1 } }
}
