/// The transports to try for the handshake, in order.
///
/// Follows engine.io-client's `transports`, `upgrade`, `rememberUpgrade` and `tryAllTransports`.
package struct EngineIOTransportPlan: Sendable {
    /// The transport to use now.
    package private(set) var transport: EngineIOTransport
    private var remaining: ArraySlice<EngineIOTransport>
    /// The transports to which a session may upgrade.
    private var upgrades: Set<EngineIOTransport>

    /// - Parameters:
    ///   - transports: The transports, in order of preference.
    ///   - upgrades: Whether a session may change to another transport of `transports`.
    ///   - triesAll: Whether the next transport is tried when one fails before the session is open.
    ///   - preferred: The transport of `transports` to try first, because an earlier session
    ///     upgraded to it.
    /// - Throws: `transportUnknown` when `transports` is empty.
    package init(
        transports: [EngineIOTransport], upgrades: Bool, triesAll: Bool, preferred: EngineIOTransport? = nil
    ) throws(EngineIOError) {
        var order: [EngineIOTransport] = []
        for transport in transports where !order.contains(transport) { order.append(transport) }
        if let preferred, order.contains(preferred) { order = [preferred] + order.filter { $0 != preferred } }
        guard let first = order.first else { throw EngineIOError(.transportUnknown, message: "`transports` must not be empty") }
        self.transport = first
        self.remaining = triesAll ? order.dropFirst() : []
        self.upgrades = upgrades ? Set(order) : []
    }

    /// A new session state machine for the current transport.
    package var session: EngineIOClientSession {
        EngineIOClientSession(startingOn: self.transport, upgrades: self.upgrades)
    }

    /// Moves to the next transport after a failure before the session was open. Returns `false` if
    /// there is none.
    package mutating func failed() -> Bool {
        guard let next = self.remaining.popFirst() else { return false }
        self.upgrades.remove(self.transport)  // a transport that has failed is not probed
        self.transport = next
        return true
    }
}
