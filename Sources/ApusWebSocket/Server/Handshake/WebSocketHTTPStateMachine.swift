import HTTPTypes

/// Tracks the requests of one HTTP/1 connection until a WebSocket request arrives. Performs no I/O.
///
/// Other requests are passed on. The WebSocket request waits until the earlier requests are
/// answered: responses must be in the order of the requests, and the HTTP handlers must not be
/// removed while a response is being written.
struct WebSocketHTTPStateMachine {
    private enum State {
        /// Between requests. Transitions to `forwarding` or `reading` (a head).
        case idle
        /// Within another request. Transitions to `idle` (the end of the request).
        case forwarding
        /// Within a WebSocket request. Transitions to `waiting` or `deciding` (the end of the
        /// request).
        case reading(HTTPRequest, hasBody: Bool)
        /// The WebSocket request is complete, but earlier requests are unanswered. Transitions to
        /// `deciding` (the last response).
        case waiting(HTTPRequest, hasBody: Bool)
        /// The server evaluates the request. Transitions to `finished`.
        case deciding
        /// Upgraded or refused; no more bytes are read. Final.
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

    /// Whether further bytes would only be queued. A client must not send before it has received
    /// the response.
    var pausesReading: Bool {
        switch self.state {
        case .waiting, .deciding: true
        case .idle, .forwarding, .reading, .finished: false
        }
    }

    /// Handles the head of a request.
    ///
    /// - Parameter request: The request, if it is a WebSocket request for this server; otherwise
    ///   `nil`.
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
            return .doNothing  // a request after a handshake is dropped
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

    /// Records the server's decision. Returns `false` if the connection has ended or the deadline
    /// has passed.
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
        /// Refuse the handshake because the evaluation exceeded the deadline.
        case refuse
        /// Close without a response, because the request is incomplete or earlier requests are
        /// unanswered.
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
