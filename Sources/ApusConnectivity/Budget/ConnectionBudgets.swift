package import ApusEventLoop

/// The budgets that all connections of a server share.
package struct ConnectionBudgets: Sendable {
    /// The budget of incomplete input: partial messages and bodies, packets that wait for
    /// attachments, and frames that were read but not processed.
    package let unfinished: ByteBudget
    /// The budget of output that the clients have not read.
    package let queued: ByteBudget
    /// The deliveries in transit between event loops.
    package let backlog = DeliveryBacklog()

    /// - Parameters:
    ///   - unfinished: The maximum number of bytes of incomplete input.
    ///   - queued: The maximum number of bytes of queued output.
    package init(unfinished: Int, queued: Int) {
        self.unfinished = ByteBudget(maximum: unfinished)
        self.queued = ByteBudget(maximum: queued)
    }

    /// Whether the server should refuse new connections.
    package var areNearlyFull: Bool { self.unfinished.isNearlyFull || self.queued.isNearlyFull }
}
