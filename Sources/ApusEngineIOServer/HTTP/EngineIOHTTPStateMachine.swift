import DequeModule
import NIOCore
import NIOHTTP1

/// Orders the requests of one HTTP/1 connection. Handles one of the server's requests at a time,
/// passes other requests on, and preserves the order of the responses.
///
/// The caller adds each received part with ``receivedPart(_:)`` and then performs
/// ``nextAction(isOurs:)`` until it returns `nil`. Parts stay queued while a response is pending.
struct EngineIOHTTPStateMachine {
    private enum State {
        /// Between requests. Transitions to `reading` or `forwarding` (head).
        case idle
        /// Reading a request of the server. Transitions to `answering` (end, or early refusal).
        case reading
        /// The request is read and its response is not written. Transitions to `idle` or
        /// `finished`.
        case answering
        /// Passing on a request for another handler. Transitions to `idle` (end).
        case forwarding
        /// The connection is closing or has become a WebSocket. Final.
        case finished
    }

    /// The maximum number of parts that a client may pipeline after an unanswered request.
    private static let maximumPendingParts = 64

    private var state = State.idle
    private var pending = Deque<HTTPServerRequestPart>()
    /// The number of requests passed on and not yet answered. The server's requests wait for them.
    private var forwardedInFlight = 0

    /// The size of the queued body parts, in bytes.
    var pendingBytes: Int {
        self.pending.reduce(0) { if case .body(let bytes) = $1 { $0 + bytes.readableBytes } else { $0 } }
    }

    /// Whether parts are queued.
    var isPending: Bool { !self.pending.isEmpty }

    enum Action: Equatable {
        /// Start a request of the server.
        case begin(HTTPRequestHead)
        /// Append this part to the body of the request.
        case body(HTTPServerRequestPart)
        /// The request is complete: respond to it.
        case dispatch
        /// Pass on the head, a body part or the end of a request for another handler.
        case forwardHead(HTTPServerRequestPart), forward(HTTPServerRequestPart), forwardEnd(HTTPServerRequestPart)
        /// Drop a part of a request that was refused before its end.
        case discard
    }

    /// Queues a received part. Returns `false` if too many parts are queued.
    mutating func receivedPart(_ part: HTTPServerRequestPart) -> Bool {
        self.pending.append(part)
        return self.pending.count <= Self.maximumPendingParts
    }

    /// Returns the next action, or `nil` if there is none at this time.
    mutating func nextAction(isOurs: (HTTPRequestHead) -> Bool) -> Action? {
        guard let part = self.pending.first else { return nil }
        switch (self.state, part) {
        case (.answering, _): return nil
        case (.idle, .head(let head)) where isOurs(head):
            guard self.forwardedInFlight == 0 else { return nil }
            self.pending.removeFirst()
            self.state = .reading
            return .begin(head)
        case (.idle, .head):
            self.pending.removeFirst()
            self.state = .forwarding
            self.forwardedInFlight += 1
            return .forwardHead(part)
        case (.forwarding, .end):
            self.pending.removeFirst()
            self.state = .idle
            return .forwardEnd(part)
        case (.forwarding, _):
            self.pending.removeFirst()
            return .forward(part)
        case (.reading, .body):
            self.pending.removeFirst()
            return .body(part)
        case (.reading, .end):
            self.pending.removeFirst()
            self.state = .answering
            return .dispatch
        case (.idle, _), (.reading, .head), (.finished, _):
            self.pending.removeFirst()
            return .discard
        }
    }

    /// Records that the current request is answered before it is complete.
    mutating func refusedEarly() {
        switch self.state {
        case .reading: self.state = .answering
        case .idle, .answering, .forwarding, .finished: break
        }
    }

    /// Records the response to the current request. Returns `false` if it is too late to write it.
    mutating func answered(keepAlive: Bool) -> Bool {
        switch self.state {
        case .answering:
            self.state = keepAlive ? .idle : .finished
            return true
        case .idle, .reading, .forwarding, .finished: return false
        }
    }

    /// Records the end of another handler's response. Returns whether the connection is idle now.
    mutating func forwardedAnswered() -> Bool {
        self.forwardedInFlight = max(0, self.forwardedInFlight - 1)
        return self.isSilent
    }

    /// Whether no request is being read or answered.
    var isSilent: Bool {
        switch self.state {
        case .idle: return self.forwardedInFlight == 0
        case .reading, .answering, .forwarding, .finished: return false
        }
    }

    /// Records that the connection has closed or become a WebSocket.
    mutating func finish() {
        self.state = .finished
        self.pending.removeAll()
    }
}
