import ApusConnectivity
public import ApusEventLoop
public import ApusWebSocketProtocol
import HTTPTypes
public import NIOCore

extension WebSocketSession {
    /// The state of a session.
    public enum State: Sendable, Hashable {
        /// No connection was requested yet.
        case idle
        /// An attempt is in progress, or the hook of an opened connection runs.
        case connecting
        /// The connection is open.
        case open
        /// The user has closed, and the session waits for the peer's Close frame.
        case closing
        /// The peer closed in a way that permits no further attempt. An end state.
        case closedByPeer
        /// The user closed. An end state.
        case closedByUser
        /// The policy gave up, or the cause permits no further attempt. An end state.
        case failed
        /// The session waits for the time of the next attempt, or for a network.
        case waitingToReconnect

        /// Whether the session stays in this state until ``WebSocketSession/connect(timeout:)`` or
        /// ``WebSocketSession/listen(on:_:)`` is called.
        public var isEnded: Bool {
            switch self {
            case .closedByPeer, .closedByUser, .failed: true
            case .idle, .connecting, .open, .closing, .waitingToReconnect: false
            }
        }
    }

    /// An event of a session.
    public enum Event: Sendable {
        /// A connection opened, the first or a later one. Queued messages were sent on it.
        case opened(subprotocol: String?)
        /// A message was received.
        case message(WebSocketMessage)
        /// A Pong was received, with the round-trip time if it answers a ping of this session.
        case pong(ByteBuffer, roundTrip: Duration?)
        /// An attempt failed.
        case failure(WebSocketError, willRetry: Bool)
        /// An open connection ended.
        case closed(WebSocketClosure, willRetry: Bool)
    }

    /// The cause for which a session has no connection, on which the decision to retry is based.
    public enum Loss: Sendable, Hashable {
        /// An attempt failed. `WebSocketError.refusal` holds the response of a server that
        /// refused.
        case attempt(WebSocketError)
        /// An open connection ended, but not by the user's close.
        case connection(WebSocketClosure)

        /// The decision without ``WebSocketSessionConfiguration/retryDecision``.
        ///
        /// Retries after lost transports, deadlines, the statuses 408, 425, 429 and 5xx (not before
        /// `Retry-After`) and close codes that indicate a problem of the server. Gives up after
        /// invalid URLs, requests or certificates, other statuses, a close with 1000, and close
        /// codes that indicate an error of the client.
        public var defaultDecision: RetryDecision {
            switch self {
            case .attempt(let error): error.retryDecision
            // A connection closed locally but not by the user, for example on an overflow, is
            // retried.
            case .connection(let closure) where closure.initiator == .ourselves: .retry
            case .connection(let closure): closure.error?.retryDecision ?? closure.code.retryDecision
            }
        }
    }
}

extension WebSocketError: RetryClassifiable {
    /// The decision for an error; see ``WebSocketSession/Loss/defaultDecision``.
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
            // RFC 9110 10.2.3: seconds or a date. A date is ignored, since the clocks may differ.
            guard let text = refusal.headers[.retryAfter], let seconds = Int(text), seconds >= 0 else { return .retry }
            return .retryAfter(min(.seconds(min(seconds, 86_400)), RetryDecision.maximumDelay))
        default:
            return .giveUp
        }
    }
}

extension WebSocketCloseCode {
    /// The decision after an orderly close by the peer.
    var retryDecision: RetryDecision {
        switch self.rawValue {
        case 1000, 1002, 1003, 1007, 1008, 1010: .giveUp
        case 3000, 3003: .giveUp  // IANA registry: unauthorized, forbidden
        default: .retry
        }
    }
}
