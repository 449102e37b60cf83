import ApusEngineIOProtocol
import NIOCore

/// The state and the end of the transport that carries a session.
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

    /// Determines whether the client is receiving its queue while its messages have to wait. Calls
    /// `answer` on the event loop of the session, which is `eventLoop`.
    func queryIsDraining(for eventLoop: any EventLoop, _ answer: @escaping @Sendable (Bool) -> Void)

    /// Ends the transport of a session that closed for this reason. Everything sent before is still
    /// written, except after a transport error.
    func close(for reason: EngineIOCloseReason)
}
