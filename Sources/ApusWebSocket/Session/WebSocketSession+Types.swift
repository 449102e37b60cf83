public import ApusConnectivity
public import ApusWebSocketProtocol
import HTTPTypes
public import NIOCore

extension WebSocketSession {
    /// How a session stands.
    public enum State: Sendable, Hashable {
        /// Nobody has asked for a connection yet.
        case idle
        /// An attempt is on its way, the hook for an opened connection included.
        case connecting
        /// Messages flow.
        case open
        /// The user has closed, and the peer's answer is awaited.
        case closing
        /// The peer closed, in a way that makes another attempt pointless. An end.
        case closedByPeer
        /// The user closed. An end.
        case closedByUser
        /// The policy gave up, or the cause made another attempt pointless. An end.
        case failed
        /// The next attempt waits for its time, or for a network.
        case waitingToReconnect

        /// Whether nothing happens any more unless somebody calls ``WebSocketSession/connect(timeout:)``.
        public var isEnded: Bool {
            switch self {
            case .closedByPeer, .closedByUser, .failed: true
            case .idle, .connecting, .open, .closing, .waitingToReconnect: false
            }
        }
    }

    /// What a listener hears.
    public enum Event: Sendable {
        /// A connection is open, the first or a later one. What was sent in the meantime is on its way.
        case opened(subprotocol: String?)
        /// A message came.
        case message(WebSocketMessage)
        /// A Pong came, with the round-trip time when it answers a ping of ours.
        case pong(ByteBuffer, roundTrip: Duration?)
        /// An attempt failed.
        case failure(WebSocketError, willRetry: Bool)
        /// An open connection ended, with code, reason and whether it was clean.
        case closed(WebSocketClosure, willRetry: Bool)
    }

    /// Why a session has no connection, for the decision whether another attempt is worth it.
    public enum Loss: Sendable, Hashable {
        /// An attempt failed. The response of a server that refused is in ``WebSocketError/refusal``.
        case attempt(WebSocketError)
        /// An open connection ended, and not because the user closed.
        case connection(WebSocketClosure)

        /// What a session does unless its configuration says something else.
        ///
        /// Worth it: lost transports, deadlines, statuses 408, 425, 429 and 5xx (not before `Retry-After`), close codes that speak of a
        /// server's trouble. Not worth it: addresses, requests and certificates that are wrong, other statuses, a peer that closes with
        /// 1000, and codes that speak of something we do wrong.
        public var defaultDecision: RetryDecision {
            switch self {
            case .attempt(let error): error.retryDecision
            // One that we closed without the user (a queue ran over) is lost like any other.
            case .connection(let closure) where closure.initiator == .ourselves: .retry
            case .connection(let closure): closure.error?.retryDecision ?? closure.code.retryDecision
            }
        }
    }
}

extension WebSocketError: RetryClassifiable {
    /// See ``WebSocketSession/Loss/defaultDecision``.
    public var retryDecision: RetryDecision {
        switch self.code {
        case .invalidURL, .invalidUse, .unsupportedVersion: .giveUp
        case .connectionRefused: self.refusal.map(Self.decision(after:)) ?? .retry
        default: RetryDecision(classifying: self.cause)
        }
    }

    private static func decision(after refusal: Refusal) -> RetryDecision {
        switch refusal.status {
        case 408, 425, 429, 500...599:
            // RFC 9110 10.2.3: seconds or a date; a date needs a clock that agrees with the server's.
            guard let text = refusal.headers[.retryAfter], let seconds = Int(text), seconds >= 0 else { return .retry }
            return .retryAfter(min(.seconds(min(seconds, 86_400)), RetryDecision.maximumDelay))
        default:
            return .giveUp
        }
    }
}

extension WebSocketCloseCode {
    /// What a peer that closed in order says about another attempt.
    var retryDecision: RetryDecision {
        switch self.rawValue {
        case 1000, 1002, 1003, 1007, 1008, 1010: .giveUp
        case 3000, 3003: .giveUp  // IANA's registry: unauthorized, forbidden
        default: .retry
        }
    }
}
