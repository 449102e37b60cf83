import ApusConnectivity
import ApusEngineIOProtocol
import Atomics

/// The polling state of a session, absent in a session that starts on WebSocket.
///
/// `@unchecked Sendable`: owned by one session, which uses the variables on its event loop only;
/// the atomic may be used on any thread.
final class EngineIOPollingState: @unchecked Sendable {
    /// Set on the event loop of the handler that reads a POST.
    let postIsRunning = ManagedAtomic(false)
    var heldPoll: EngineIOResponder?
    /// The remaining packets of a POST: the turn of the event loop was full, or the client has to
    /// poll first.
    var waitingPost: WaitingPost?
    /// The account of the queue for polls in the server's budget.
    var queued = ByteAccount()
    /// The account of the waiting POST in the server's budget.
    var unfinished = ByteAccount()
    /// Whether all packets queued for a poll permit compression.
    var answerMayBeCompressed = true
    /// The timer that ends held polls during an upgrade.
    var upgradeTimer = EventLoopTimer()
    /// The deadline of an upgrade.
    var upgradeDeadline = EventLoopTimer()
    /// The deadline of the poll that fetches the last packets of a closed session.
    var closingTimer = EventLoopTimer()

    struct WaitingPost {
        var packets: ArraySlice<EngineIOPacket>
        var responder: EngineIOResponder
    }
}
