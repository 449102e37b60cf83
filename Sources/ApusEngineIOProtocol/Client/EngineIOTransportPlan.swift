/// Which transport a session is asked for on, and which next when that fails.
///
/// Source: the reference client's `transports`, `upgrade`, `rememberUpgrade` and `tryAllTransports`.
package struct EngineIOTransportPlan: Sendable {
    /// What to ask on now.
    package private(set) var carrier: EngineIOClientSession.Carrier
    private var remaining: ArraySlice<EngineIOClientSession.Carrier>
    private let upgrades: Bool
    private var webSocketFailed = false

    /// - Parameters:
    ///   - transports: In the order of preference.
    ///   - upgrades: Whether polling may change to WebSocket.
    ///   - triesAll: Whether the others are tried when the first fails before the session stands.
    ///   - prefersWebSocket: An upgrade succeeded before: WebSocket goes first.
    /// - Throws: `transportUnknown` when there is none.
    package init(
        transports: [EngineIOClientSession.Carrier], upgrades: Bool, triesAll: Bool, prefersWebSocket: Bool
    ) throws(EngineIOError) {
        var carriers: [EngineIOClientSession.Carrier] = []
        for carrier in transports where !carriers.contains(carrier) { carriers.append(carrier) }
        if prefersWebSocket, carriers.contains(.webSocket) { carriers = [.webSocket] + carriers.filter { $0 != .webSocket } }
        guard let first = carriers.first else { throw EngineIOError(.transportUnknown, message: "the configuration names no transport") }
        self.carrier = first
        self.remaining = triesAll ? carriers.dropFirst() : []
        self.upgrades = upgrades && carriers.contains(.webSocket)
    }

    /// The session's machine for the present choice.
    package var session: EngineIOClientSession {
        EngineIOClientSession(startingOn: self.carrier, upgrades: self.upgrades && !self.webSocketFailed)
    }

    /// The present choice failed before the session stood. Answers whether there is another, which is then the choice.
    package mutating func failed() -> Bool {
        guard let next = self.remaining.popFirst() else { return false }
        // What could not be had a moment ago is not tried as an upgrade.
        if self.carrier == .webSocket { self.webSocketFailed = true }
        self.carrier = next
        return true
    }
}
