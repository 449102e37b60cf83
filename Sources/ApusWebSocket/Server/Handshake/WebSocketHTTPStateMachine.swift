import HTTPTypes

/// Follows the requests of one HTTP/1 connection until one of them asks for a WebSocket. Performs
/// no I/O.
///
/// Other requests are passed on. The WebSocket request waits until the earlier ones are answered:
/// responses keep the order of the requests, and the HTTP handlers must not be removed while a
/// response is being written.
struct WebSocketHTTPStateMachine {
    private enum State {
        /// Between requests. Leaves with a head.
        case idle
        /// Within another request. Leaves to `idle` with its end.
        case forwarding
        /// Within a WebSocket request. Leaves to `waiting` or `deciding` with its end.
        case reading(HTTPRequest, hasBody: Bool)
        /// The WebSocket request is complete, earlier ones are unanswered. Leaves to `deciding`
        /// with the last response.
        case waiting(HTTPRequest, hasBody: Bool)
        /// The server evaluates the request. Leaves to `finished`.
        case deciding
        /// Upgraded or refused: nothing more is read. Final.
        case finished
    }

    private var state = State.idle
    private var unanswered = 0

    enum Action: Equatable {
        /// Pass the part on.
        case forward
        /// Evaluate this request, and answer it.
        case decide(HTTPRequest, hasBody: Bool)
        /// Start the deadline of a WebSocket request that has begun.
        case startTimer
        case doNothing
    }

    /// Whether further bytes would only be queued: a client must not send before it has the
    /// response.
    var pausesReading: Bool {
        switch self.state {
        case .waiting, .deciding: true
        case .idle, .forwarding, .reading, .finished: false
        }
    }

    /// Handles the head of a request.
    ///
    /// - Parameter request: The request, if it asks for the WebSocket of the server.
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
            return .forward  // the codec sends no second head
        case .reading, .waiting, .deciding, .finished:
            return .doNothing  // pipelined behind a handshake: dropped, as the connection ends or is no longer HTTP
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

    /// Handles the end of a response to another request.
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

    /// Finishes the decision. Returns `false` if the connection has ended or the deadline has
    /// passed.
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
        /// Refuse the handshake, which took too long.
        case refuse
        /// Close without a response: the request is incomplete, or earlier ones are unanswered.
        case close
        case doNothing
    }

    /// Handles the expiry of the deadline.
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
