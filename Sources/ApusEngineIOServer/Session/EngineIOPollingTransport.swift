import ApusConnectivity
import ApusEngineIOProtocol
import ApusEventLoop
import Atomics
import NIOCore

/// The polling transport of a session. A session that starts on another transport has none.
///
/// `@unchecked Sendable`: owned by one session, which uses the variables on its event loop only;
/// the atomic may be used on any thread.
final class EngineIOPollingTransport: @unchecked Sendable {
    /// Whether a POST is being read or handled. Set on the event loop of the handler that reads the
    /// POST.
    let postIsRunning = ManagedAtomic(false)
    var heldPoll: EngineIOResponder?
    /// The remaining packets of a POST, which wait for a later turn of the event loop or until the
    /// client polls.
    var waitingPost: WaitingPost?
    /// The account of the queue for polls in the server's budget.
    var queued = ByteAccount()
    /// The account of the waiting POST in the server's budget.
    var unfinished = ByteAccount()
    /// Whether all packets queued for a poll permit compression.
    var answerMayBeCompressed = true
    /// The deadline of the poll that fetches the last packets of a closed session.
    var closingTimer = EventLoopTimer()

    struct WaitingPost {
        var packets: ArraySlice<EngineIOPacket>
        var responder: EngineIOResponder
    }
}

extension EngineIOPollingTransport: EngineIOSessionTransport {
    /// The maximum size of the queue of a drained session, in bytes.
    private static let drainedBytes = 64 << 10

    var isWritable: Bool { self.heldPoll != nil }

    func isDrained(queuedBytes: Int) -> Bool { queuedBytes <= Self.drainedBytes }

    /// Answers `false`: a client that polls can send its pong while it receives its queue, so its
    /// pong is not delayed.
    func queryIsDraining(for eventLoop: any EventLoop, _ answer: @escaping @Sendable (Bool) -> Void) { answer(false) }

    /// Releases the held poll, which the session has answered.
    func close(for reason: EngineIOCloseReason) { self.heldPoll = nil }
}
