import ApusConnectivity
import ApusEngineIOProtocol
import Atomics

/// What the shell of a session keeps that began by polling. One that began on a WebSocket never polls, and is smaller without.
///
/// `@unchecked Sendable`: only its session has it, and touches the variables on the session's event loop; the atomic is for any thread.
final class EngineIOPollingState: @unchecked Sendable {
    /// Set by the handler that reads a POST, on its own event loop.
    let postIsRunning = ManagedAtomic(false)
    var heldPoll: EngineIOResponder?
    /// The packets of a POST that wait: the turn of the event loop was full, or the client has to poll first.
    var waitingPost: WaitingPost?
    /// The bytes queued for polls that the budget of the server counts.
    var queued = ByteAccount()
    /// The waiting POST, as far as the server's budget knows.
    var unfinished = ByteAccount()
    /// Whether no message that waits for a poll wants to stay uncompressed.
    var answerMayBeCompressed = true
    /// Releases the poll that a client holds while it upgrades, again and again.
    var upgradeTimer = EventLoopTimer()
    /// Ends an upgrade that does not come to its end.
    var upgradeDeadline = EventLoopTimer()
    /// Ends the wait for the poll that takes what a closed session has left to say.
    var farewellTimer = EventLoopTimer()

    struct WaitingPost {
        var packets: ArraySlice<EngineIOPacket>
        var responder: EngineIOResponder
    }
}
