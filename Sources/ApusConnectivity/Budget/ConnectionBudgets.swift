/// The budgets that all connections of a server share.
package struct ConnectionBudgets: Sendable {
    /// Input that is not complete: messages and bodies of which the rest has not come, packets that wait for their attachments, frames that were read
    /// and have to wait.
    package let unfinished: ByteBudget
    /// Output that the clients have not taken.
    package let queued: ByteBudget
    /// Deliveries on their way from one event loop to another.
    package let backlog = DeliveryBacklog()

    /// - Parameters:
    ///   - unfinished: The most bytes of incomplete input.
    ///   - queued: The most bytes of output that waits.
    package init(unfinished: Int, queued: Int) {
        self.unfinished = ByteBudget(maximum: unfinished)
        self.queued = ByteBudget(maximum: queued)
    }

    /// Whether new connections are to be refused.
    package var areScarce: Bool { self.unfinished.isScarce || self.queued.isScarce }
}
