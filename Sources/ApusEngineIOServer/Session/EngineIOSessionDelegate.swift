package import ApusEngineIOProtocol

/// Hears what happens to a session. Every call is on the session's event loop.
package protocol EngineIOSessionDelegate: AnyObject {
    /// The client was sent the open packet. Called once, before anything else.
    func sessionOpened(_ session: EngineIOSession)
    func session(_ session: EngineIOSession, received message: EngineIOMessage)
    /// The client went on from polling to WebSocket. The default does nothing.
    func sessionUpgraded(_ session: EngineIOSession)
    /// The outgoing queue is short again. May be called more than once. The default does nothing.
    func sessionDrained(_ session: EngineIOSession)
    /// The server goes down. Close the session with `serverShuttingDown` when what is under way is done; it is cut at the drain's deadline. The
    /// default closes it now.
    func sessionShouldClose(_ session: EngineIOSession)
    /// Called once; nothing follows.
    func session(_ session: EngineIOSession, closed reason: EngineIOCloseReason)
}

extension EngineIOSessionDelegate {
    package func sessionUpgraded(_ session: EngineIOSession) {}
    package func sessionDrained(_ session: EngineIOSession) {}
    package func sessionShouldClose(_ session: EngineIOSession) { session.close(.serverShuttingDown) }
}
