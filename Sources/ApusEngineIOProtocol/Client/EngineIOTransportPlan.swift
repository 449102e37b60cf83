/// The transports to try for the handshake, in order.
///
/// Follows engine.io-client's `transports`, `upgrade`, `rememberUpgrade` and `tryAllTransports`.
package struct EngineIOTransportPlan: Sendable {
    /// The transport to use now.
    package private(set) var carrier: EngineIOClientSession.Carrier
    private var remaining: ArraySlice<EngineIOClientSession.Carrier>
    private let upgrades: Bool
    private var webSocketFailed = false

    /// - Parameters:
    ///   - transports: The transports, in order of preference.
    ///   - upgrades: Whether polling may change to WebSocket.
    ///   - triesAll: Whether the next transport is tried when one fails before the session is open.
    ///   - prefersWebSocket: Whether WebSocket is tried first, because an earlier upgrade
    ///     succeeded.
    /// - Throws: `transportUnknown` when `transports` is empty.
    package init(
        transports: [EngineIOClientSession.Carrier], upgrades: Bool, triesAll: Bool, prefersWebSocket: Bool
    ) throws(EngineIOError) {
        var carriers: [EngineIOClientSession.Carrier] = []
        for carrier in transports where !carriers.contains(carrier) { carriers.append(carrier) }
        if prefersWebSocket, carriers.contains(.webSocket) { carriers = [.webSocket] + carriers.filter { $0 != .webSocket } }
        guard let first = carriers.first else { throw EngineIOError(.transportUnknown, message: "`transports` must not be empty") }
        self.carrier = first
        self.remaining = triesAll ? carriers.dropFirst() : []
        self.upgrades = upgrades && carriers.contains(.webSocket)
    }

    /// A new session state machine for the current transport.
    package var session: EngineIOClientSession {
        EngineIOClientSession(startingOn: self.carrier, upgrades: self.upgrades && !self.webSocketFailed)
    }

    /// Moves to the next transport after a failure before the session was open. Returns `false` if
    /// there is none.
    package mutating func failed() -> Bool {
        guard let next = self.remaining.popFirst() else { return false }
        // A WebSocket that just failed is not probed as an upgrade.
        if self.carrier == .webSocket { self.webSocketFailed = true }
        self.carrier = next
        return true
    }
}
