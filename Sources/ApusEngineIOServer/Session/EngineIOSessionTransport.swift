import ApusEngineIOProtocol
import NIOCore

/// Reports the state of the transport that carries a session, and closes the transport.
///
/// `EngineIOServerSession` decides which transport carries a packet, and ``EngineIOSession`` passes
/// packets to it directly; this protocol contains only the requirements that are not used for every
/// packet. Called on the session's event loop.
protocol EngineIOSessionTransport: AnyObject {
    /// Whether a packet sent now is written immediately.
    var isWritable: Bool { get }

    /// Returns whether the outgoing queue is short.
    ///
    /// - Parameter queuedBytes: The size of the packets that the session keeps for the transport.
    func isDrained(queuedBytes: Int) -> Bool

    /// Determines whether the client is still receiving its queue, so that its messages are not
    /// handled yet. Calls `answer` on the event loop of the session, which is `eventLoop`.
    func queryIsDraining(for eventLoop: any EventLoop, _ answer: @escaping @Sendable (Bool) -> Void)

    /// Ends the transport of a session that closed for the given reason. Data sent before is still
    /// written, except after a transport error.
    func close(for reason: EngineIOCloseReason)
}
