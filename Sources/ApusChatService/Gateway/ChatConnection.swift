import ApusChatCore
import ApusChatProtocol
import ApusSocketIOServer
import NIOConcurrencyHelpers

/// A signed-in connection in the namespace of the chat.
final class ChatConnection: Sendable {
    private enum Greeting {
        /// Before `hello`.
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
    private let state = NIOLockedValueBox(State())

    init(key: SocketKey, requester: Requester, socket: SocketIOServerSocket) {
        self.key = key
        self.requester = requester
        self.socket = socket
        self.lane = CommandLane(answeringOn: socket.eventLoop)
        self.reads = ReadLane { [weak socket] body in socket?.whenDrained(body) }
    }

    /// Whether `hello` was received before.
    var isGreeted: Bool { self.state.withLockedValue { $0.greeting == .done } }

    /// Notes that `hello` was received. False for a second one.
    func beginGreeting() -> Bool {
        self.state.withLockedValue { state in
            guard case .none = state.greeting else { return false }
            state.greeting = .pending
            return true
        }
    }

    /// Ends `hello`. One that failed can be repeated.
    func endGreeting(succeeded: Bool) { self.state.withLockedValue { $0.greeting = succeeded ? .done : .none } }

    /// Notes a request that has to be answered. False if too many are pending.
    func beginRequest() -> Bool {
        self.state.withLockedValue { state in
            guard state.pending < ChatLimits.pendingRequests else { return false }
            state.pending += 1
            return true
        }
    }

    func endRequest() { self.state.withLockedValue { $0.pending -= 1 } }

    /// Says why the connection ends, and closes it.
    func close(saying bye: ByePush) {
        // Not by a frame of the hub: its delivery may wait for the turn of other sockets.
        if let frame = Frame(ChatPushes.bye, bye) { self.socket.emit(frame.event, payload: frame.payload) }
        self.socket.disconnect(close: true)
    }
}
