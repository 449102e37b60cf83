import NIOConcurrencyHelpers
package import NIOCore

/// A reference from a part to the object that owns it, while the owner is in use. Any thread may
/// store the link.
///
/// Does not use a weak reference: Swift counts all references to an object with a weak reference in
/// a side table, which takes 4 % of the time of a WebSocket echo. The owner calls ``disconnect()``
/// at its end to break the reference cycle.
package final class OwnerLink<Owner: AnyObject & Sendable>: Sendable {
    private let eventLoop: any EventLoop
    private let owner = NIOLockedValueBox<Owner?>(nil)

    /// Creates a link without an owner.
    package init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    package func connect(_ owner: Owner) {
        self.owner.withLockedValue { $0 = owner }
    }

    package func disconnect() {
        self.owner.withLockedValue { $0 = nil }
    }

    /// Calls `body` on the event loop: immediately if called there, otherwise in a later turn. Does
    /// nothing without an owner.
    package func onLoop(_ body: @escaping @Sendable (Owner) -> Void) {
        guard let owner = self.owner.withLockedValue({ $0 }) else { return }
        self.eventLoop.runOnLoop { body(owner) }
    }

    /// Calls `body` in a later turn of the event loop, even when called there. Does nothing without
    /// an owner.
    package func inLaterTurn(_ body: @escaping @Sendable (Owner) -> Void) {
        guard let owner = self.owner.withLockedValue({ $0 }) else { return }
        self.eventLoop.execute { body(owner) }
    }
}
