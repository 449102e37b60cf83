/// The transports to try for the handshake, in order.
///
/// Follows engine.io-client's `transports`, `upgrade`, `rememberUpgrade` and `tryAllTransports`.
package struct EngineIOTransportPlan: Sendable {
    /// The transport to use now.
    package private(set) var transport: EngineIOTransport
    private var remaining: ArraySlice<EngineIOTransport>
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
        transports: [EngineIOTransport], upgrades: Bool, triesAll: Bool, prefersWebSocket: Bool
    ) throws(EngineIOError) {
        var order: [EngineIOTransport] = []
        for transport in transports where !order.contains(transport) { order.append(transport) }
        if prefersWebSocket, order.contains(.webSocket) { order = [.webSocket] + order.filter { $0 != .webSocket } }
        guard let first = order.first else { throw EngineIOError(.transportUnknown, message: "`transports` must not be empty") }
        self.transport = first
        self.remaining = triesAll ? order.dropFirst() : []
        self.upgrades = upgrades && order.contains(.webSocket)
    }

    /// A new session state machine for the current transport.
    package var session: EngineIOClientSession {
        EngineIOClientSession(startingOn: self.transport, upgrades: self.upgrades && !self.webSocketFailed)
    }

    /// Moves to the next transport after a failure before the session was open. Returns `false` if
    /// there is none.
    package mutating func failed() -> Bool {
        guard let next = self.remaining.popFirst() else { return false }
        // A WebSocket that just failed is not probed as an upgrade.
        if self.transport == .webSocket { self.webSocketFailed = true }
        self.transport = next
        return true
    }
}
