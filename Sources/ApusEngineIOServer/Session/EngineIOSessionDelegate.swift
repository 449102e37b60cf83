package import ApusEngineIOProtocol

/// Receives the events of a session, on the session's event loop.
package protocol EngineIOSessionDelegate: AnyObject {
    /// The open packet was sent. Called once, before all other calls.
    func sessionOpened(_ session: EngineIOSession)
    func session(_ session: EngineIOSession, received message: EngineIOMessage)
    /// The session was upgraded from polling to WebSocket. The default does nothing.
    func sessionUpgraded(_ session: EngineIOSession)
    /// The outgoing queue is short again. May be called more than once. The default does nothing.
    func sessionDrained(_ session: EngineIOSession)
    /// The server is shutting down. Close the session with `serverShuttingDown` when pending work
    /// is complete; at the deadline of the shutdown the server closes it. The default closes it
    /// immediately.
    func sessionShouldClose(_ session: EngineIOSession)
    /// The session is closed. Called once, as the last call.
    func session(_ session: EngineIOSession, closed reason: EngineIOCloseReason)
}

extension EngineIOSessionDelegate {
    package func sessionUpgraded(_ session: EngineIOSession) {}
    package func sessionDrained(_ session: EngineIOSession) {}
    package func sessionShouldClose(_ session: EngineIOSession) { session.close(.serverShuttingDown) }
}
