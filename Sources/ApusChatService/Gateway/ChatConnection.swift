import ApusChatCore
import ApusChatProtocol
import ApusSocketIOServer
import NIOConcurrencyHelpers

/// A signed-in connection in the namespace of the chat.
final class ChatConnection: Sendable {
    private enum Greeting {
        /// `hello` was not received.
        case none
        case pending
        case done
    }

    private struct State {
        var greeting = Greeting.none
        var pending = 0
    }

    let key: SocketKey
    let requester: Requester
    let socket: SocketIOServerSocket
    let lane: CommandLane
    let reads: ReadLane
    /// Receives the pushes of a connection that the server translates to another protocol; nil for
    /// ordinary clients.
    let receive: (@Sendable (Frame) -> Void)?
    /// Whether the connection receives the presence of every user that all users can find and whose
    /// presence is visible to all users.
    let watchesPresence: Bool
    private let state = NIOLockedValueBox(State())

    init(
        key: SocketKey, requester: Requester, socket: SocketIOServerSocket, watchesPresence: Bool = false,
        receive: (@Sendable (Frame) -> Void)? = nil
    ) {
        self.watchesPresence = watchesPresence
        self.receive = receive
        self.key = key
        self.requester = requester
        self.socket = socket
        self.lane = CommandLane(answeringOn: socket.eventLoop)
        self.reads = ReadLane { [weak socket] body in socket?.whenDrained(body) }
    }

    /// Whether `hello` was answered.
    var isGreeted: Bool { self.state.withLockedValue { $0.greeting == .done } }

    /// Records that `hello` was received. Returns false if an earlier `hello` is pending or was
    /// answered.
    func beginGreeting() -> Bool {
        self.state.withLockedValue { state in
            guard case .none = state.greeting else { return false }
            state.greeting = .pending
            return true
        }
    }

    /// Records the end of `hello`. A failed `hello` can be repeated.
    func endGreeting(succeeded: Bool) { self.state.withLockedValue { $0.greeting = succeeded ? .done : .none } }

    /// Records a pending request. Returns false if the maximum number of requests is pending.
    func beginRequest() -> Bool {
        self.state.withLockedValue { state in
            guard state.pending < ChatLimits.pendingRequests else { return false }
            state.pending += 1
            return true
        }
    }

    func endRequest() { self.state.withLockedValue { $0.pending -= 1 } }

    /// Sends the reason for the close, and closes the connection.
    func close(saying bye: ByePush) {
        self.say(bye)
        self.socket.disconnect(close: true)
    }

    /// Sends the reason for the close. The push bypasses the hub, whose deliveries can wait for
    /// other connections.
    func say(_ bye: ByePush) {
        if self.receive == nil, let frame = Frame(ChatPushes.bye, bye) { self.socket.emit(frame.event, payload: frame.payload) }
    }
}
