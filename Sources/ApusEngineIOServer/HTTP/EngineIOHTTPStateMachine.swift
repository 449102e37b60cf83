import DequeModule
import NIOCore
import NIOHTTP1

/// Keeps the order of the requests on one HTTP/1 connection: one of ours at a time, those of others passed on, answers in the order asked. Pure.
///
/// Parts that come while an answer is awaited wait here; the shell puts every part in with ``received(_:)`` and asks for ``nextAction(isOurs:)``
/// until there is none.
struct EngineIOHTTPStateMachine {
    private enum State {
        /// Between requests. Leaves with a head.
        case idle
        /// Reading one of ours. Leaves to `answering` (end, or refused before it).
        case reading
        /// Ours is read, its answer is not written. Leaves to `idle` or `finished`.
        case answering
        /// Parts of a request that is somebody else's. Leaves to `idle` with its end.
        case forwarding
        /// Nothing more is read: the connection closes, or has become a WebSocket. Final.
        case finished
    }

    /// A client that pipelines more parts than this behind an unanswered request is cut off.
    private static let maximumPendingParts = 64

    private var state = State.idle
    private var pending = Deque<HTTPServerRequestPart>()
    /// Requests passed on whose answers have not gone by. Ours wait for them.
    private var foreignInFlight = 0

    /// The bytes of bodies among the parts that wait.
    var pendingBytes: Int {
        self.pending.reduce(0) { if case .body(let bytes) = $1 { $0 + bytes.readableBytes } else { $0 } }
    }

    /// Whether parts wait.
    var isPending: Bool { !self.pending.isEmpty }

    enum Action: Equatable {
        /// A request of ours begins.
        case begin(HTTPRequestHead)
        /// More of its body.
        case body(HTTPServerRequestPart)
        /// It is whole: answer it.
        case dispatch
        /// A request of somebody else begins, goes on, ends: pass the part on.
        case forwardHead(HTTPServerRequestPart), forward(HTTPServerRequestPart), forwardEnd(HTTPServerRequestPart)
        /// Left over from a request that was refused before its end.
        case discard
    }

    /// A part came. `false`: more wait than may.
    mutating func received(_ part: HTTPServerRequestPart) -> Bool {
        self.pending.append(part)
        return self.pending.count <= Self.maximumPendingParts
    }

    /// What to do next; `nil` while nothing can be done.
    mutating func nextAction(isOurs: (HTTPRequestHead) -> Bool) -> Action? {
        guard let part = self.pending.first else { return nil }
        switch (self.state, part) {
        case (.answering, _): return nil
        case (.idle, .head(let head)) where isOurs(head):
            guard self.foreignInFlight == 0 else { return nil }
            self.pending.removeFirst()
            self.state = .reading
            return .begin(head)
        case (.idle, .head):
            self.pending.removeFirst()
            self.state = .forwarding
            self.foreignInFlight += 1
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

    /// Ours was refused before it was whole; its answer follows.
    mutating func refusedEarly() {
        switch self.state {
        case .reading: self.state = .answering
        case .idle, .answering, .forwarding, .finished: break
        }
    }

    /// Our answer is to be written. `false`: too late, nobody waits for it.
    mutating func answered(keepAlive: Bool) -> Bool {
        switch self.state {
        case .answering:
            self.state = keepAlive ? .idle : .finished
            return true
        case .idle, .reading, .forwarding, .finished: return false
        }
    }

    /// Somebody else's answer went by, whole. Answers whether the connection is silent now.
    mutating func foreignAnswered() -> Bool {
        self.foreignInFlight = max(0, self.foreignInFlight - 1)
        return self.isSilent
    }

    /// Whether nothing is being read or answered.
    var isSilent: Bool {
        switch self.state {
        case .idle: return self.foreignInFlight == 0
        case .reading, .answering, .forwarding, .finished: return false
        }
    }

    /// The connection ended, or is no HTTP any more.
    mutating func finish() {
        self.state = .finished
        self.pending.removeAll()
    }
}
