import NIOConcurrencyHelpers

/// A ``ByteQuota`` that the connections of a server share. A lock guards it. For each connection,
/// it stores a closure that closes the connection.
package final class ByteBudget: Sendable {
    private struct State: Sendable {
        var quota: ByteQuota<ObjectIdentifier>
        var closers: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let state: NIOLockedValueBox<State>

    /// - Parameter maximum: The maximum number of bytes that all connections may hold together.
    package init(maximum: Int) {
        self.state = NIOLockedValueBox(State(quota: ByteQuota(maximum: maximum)))
    }

    /// Whether the server should refuse new connections.
    package var isNearlyFull: Bool { self.state.withLockedValue { $0.quota.isNearlyFull } }

    /// The number of bytes held, including those of closing connections.
    package var held: Int { self.state.withLockedValue { $0.quota.held + $0.quota.closing } }

    /// Sets the number of bytes that a connection holds. If the sum then exceeds the maximum,
    /// closes the connections that hold the most bytes.
    ///
    /// - Parameter close: Returns the closure that closes the connection. Called if the connection
    ///   held no bytes before. The closure is called at most once, on any thread, and must not
    ///   close synchronously.
    fileprivate func set(_ bytes: Int, for holder: ObjectIdentifier, closing close: () -> @Sendable () -> Void) {
        let closers = self.state.withLockedValue { state -> [@Sendable () -> Void] in
            if bytes == 0 { state.closers[holder] = nil } else if state.closers[holder] == nil { state.closers[holder] = close() }
            return state.quota.set(bytes, for: holder).compactMap { state.closers[$0] }
        }
        for close in closers { close() }
    }
}

/// The number of bytes of one connection that a budget counts.
///
/// Confined to the connection's event loop. The connection sets its bytes to 0 when it ends.
package struct ByteAccount {
    /// The granularity of the count, in bytes. Smaller changes do not take the lock.
    package static let grain = 4 << 10

    private var counted = 0

    package init() {}

    /// Whether the budget counts no bytes of this connection.
    package var isEmpty: Bool { self.counted == 0 }

    /// Reports the number of bytes to the budget, rounded down to a multiple of ``grain``, if the
    /// rounded number has changed.
    ///
    /// - Parameter close: Returns the closure that closes the connection. The closure is called at
    ///   most once, on any thread, and must not close synchronously. The budget keeps the closure
    ///   while the connection holds bytes.
    package mutating func set(
        _ bytes: Int, in budget: ByteBudget, for holder: AnyObject, closing close: () -> @Sendable () -> Void
    ) {
        let rounded = max(0, bytes) / Self.grain * Self.grain
        guard rounded != self.counted else { return }
        self.counted = rounded
        budget.set(rounded, for: ObjectIdentifier(holder), closing: close)
    }
}
