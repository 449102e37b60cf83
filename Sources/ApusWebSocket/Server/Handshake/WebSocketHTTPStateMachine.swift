import HTTPTypes

/// Follows the requests of one HTTP/1 connection until one of them asks for a WebSocket. Pure.
///
/// Requests of others are passed on. Ours waits until the earlier ones are answered: answers keep the order of the requests, and the
/// handlers of HTTP must not leave while somebody still writes through them.
struct WebSocketHTTPStateMachine {
    private enum State {
        /// Between requests. Leaves with a head.
        case idle
        /// Within a request of somebody else. Leaves to `idle` with its end.
        case forwarding
        /// Within one of ours. Leaves to `waiting` or `deciding` with its end.
        case reading(HTTPRequest, hasBody: Bool)
        /// Ours is whole, earlier ones are unanswered. Leaves to `deciding` with the last answer.
        case waiting(HTTPRequest, hasBody: Bool)
        /// The server makes up its mind. Leaves to `finished`.
        case deciding
        /// A WebSocket, or refused: nothing more is read. Final.
        case finished
    }

    private var state = State.idle
    private var unanswered = 0

    enum Action: Equatable {
        /// Pass the part on.
        case forward
        /// Judge this request, and answer it.
        case decide(HTTPRequest, hasBody: Bool)
        /// Ours has begun: its deadline runs.
        case startTimer
        case doNothing
    }

    /// Whether bytes that come now would only pile up: a client may send nothing before it has our answer.
    var pausesReading: Bool {
        switch self.state {
        case .waiting, .deciding: true
        case .idle, .forwarding, .reading, .finished: false
        }
    }

    /// - Parameter request: The request, if it asks for our WebSocket.
    mutating func receivedHead(_ request: HTTPRequest?) -> Action {
        switch self.state {
        case .idle:
            if let request {
                self.state = .reading(request, hasBody: false)
                return .startTimer
            }
            self.state = .forwarding
            self.unanswered += 1
            return .forward
        case .forwarding:
            return .forward  // the codec sends no such thing
        case .reading, .waiting, .deciding, .finished:
            return .doNothing  // pipelined behind a handshake: dropped, as that connection ends or is no longer HTTP
        }
    }

    mutating func receivedBody() -> Action {
        switch self.state {
        case .forwarding, .idle: return .forward
        case .reading(let request, _):
            self.state = .reading(request, hasBody: true)
            return .doNothing
        case .waiting, .deciding, .finished: return .doNothing
        }
    }

    mutating func receivedEnd() -> Action {
        switch self.state {
        case .forwarding, .idle:
            self.state = .idle
            return .forward
        case .reading(let request, let hasBody):
            guard self.unanswered == 0 else {
                self.state = .waiting(request, hasBody: hasBody)
                return .doNothing
            }
            self.state = .deciding
            return .decide(request, hasBody: hasBody)
        case .waiting, .deciding, .finished:
            return .doNothing
        }
    }

    /// Somebody else's answer went by, whole.
    mutating func answered() -> Action {
        self.unanswered = max(0, self.unanswered - 1)
        switch self.state {
        case .waiting(let request, let hasBody) where self.unanswered == 0:
            self.state = .deciding
            return .decide(request, hasBody: hasBody)
        case .idle, .forwarding, .reading, .waiting, .deciding, .finished:
            return .doNothing
        }
    }

    /// Our answer is to be written. `false`: too late, the connection has ended.
    mutating func decided() -> Bool {
        switch self.state {
        case .deciding:
            self.state = .finished
            return true
        case .idle, .forwarding, .reading, .waiting, .finished:
            return false
        }
    }

    enum TimerAction: Equatable {
        /// Answer that it took too long.
        case refuse
        /// Whoever has not even sent a request gets no answer.
        case close
        case doNothing
    }

    /// The deadline passed.
    mutating func timerFired() -> TimerAction {
        switch self.state {
        case .deciding:
            self.state = .finished
            return .refuse
        case .idle, .forwarding, .reading, .waiting:
            self.state = .finished
            return .close
        case .finished:
            return .doNothing
        }
    }

    mutating func connectionEnded() {
        self.state = .finished
    }
}
