import NIOConcurrencyHelpers

/// The lock around a ``ByteQuota`` that the connections of a server share, and how each of them is closed.
package final class ByteBudget: Sendable {
    private struct State: Sendable {
        var quota: ByteQuota<ObjectIdentifier>
        var closers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let state: NIOLockedValueBox<State>

    /// - Parameter maximum: The most bytes that all connections may hold together.
    package init(maximum: Int) {
        self.state = NIOLockedValueBox(State(quota: ByteQuota(maximum: maximum)))
    }

    /// Whether new connections are to be refused.
    package var isScarce: Bool { self.state.withLockedValue { $0.quota.isScarce } }

    /// The bytes that are held, those of closing connections included.
    package var held: Int { self.state.withLockedValue { $0.quota.held + $0.quota.closing } }

    /// Sets what a connection holds, and closes the largest when all hold too much.
    ///
    /// - Parameter close: Makes what closes the connection, called once at most and on any thread, where it must not close at once; asked for when the connection holds nothing yet.
    fileprivate func set(_ bytes: Int, for holder: ObjectIdentifier, closing close: () -> @Sendable () -> Void) {
        let closers = self.state.withLockedValue { state -> [@Sendable () -> Void] in
            if bytes == 0 { state.closers[holder] = nil } else if state.closers[holder] == nil { state.closers[holder] = close() }
            return state.quota.set(bytes, for: holder).compactMap { state.closers[$0] }
        }
        for close in closers { close() }
    }
}

/// The bytes of one connection that a budget counts. Confined like the connection, which sets it to 0 when it ends.
package struct ByteAccount {
    /// Less than this is not worth the lock.
    package static let grain = 4 << 10

    private var counted = 0

    package init() {}

    /// Whether the budget counts anything.
    package var isEmpty: Bool { self.counted == 0 }

    /// Tells the budget, rounded down, when it makes a difference.
    ///
    /// - Parameter close: Makes what closes the connection, called once at most and on any thread, where it must not close at once. The budget keeps it while the connection holds
    ///   anything.
    package mutating func set(
        _ bytes: Int, in budget: ByteBudget, for holder: AnyObject, closing close: () -> @Sendable () -> Void
    ) {
        let rounded = max(0, bytes) / Self.grain * Self.grain
        guard rounded != self.counted else { return }
        self.counted = rounded
        budget.set(rounded, for: ObjectIdentifier(holder), closing: close)
    }
}
