/// How a connection finds out that its peer is gone although the network says nothing.
///
/// A half-open connection (a phone that lost its network, a NAT that forgot us) is silent and looks alive; only a question
/// that stays without an answer tells.
public struct WebSocketHeartbeat: Hashable, Sendable {
    /// What is sent.
    public enum Signal: Hashable, Sendable {
        /// A Ping frame; every WebSocket answers it by itself.
        case ping
        /// A text the application at the other end understands, for servers that want to hear one.
        case text(String)
    }

    /// What is sent; `nil` for nothing, only ``idleTimeout`` then counts.
    public var signal: Signal?

    /// Time from one signal to the next.
    ///
    /// Unit: `Duration`. Default: 30 seconds, below the minute after which many proxies drop a silent connection.
    public var interval: Duration

    /// How long the peer may take to answer a signal; `nil`: no answer is asked for.
    ///
    /// Unit: `Duration`. Default: 20 seconds for a Ping, none for a text. A Ping is answered by its Pong, a text by any message.
    /// While bytes come in the time does not pass: the answer may stand behind a large message.
    public var answerTimeout: Duration?

    /// How long the peer may say nothing at all; `nil`: as long as it wants.
    ///
    /// Unit: `Duration`. Default: none. A Pong is not silence, so with pings this is no more than a second deadline.
    public var idleTimeout: Duration?

    private init(signal: Signal?, interval: Duration, answerTimeout: Duration?, idleTimeout: Duration? = nil) {
        self.signal = signal
        self.interval = interval
        self.answerTimeout = answerTimeout
        self.idleTimeout = idleTimeout
    }

    /// Nothing is sent and nothing is awaited.
    public static let none = Self(signal: nil, interval: .seconds(30), answerTimeout: nil)

    /// A Ping frame at an interval.
    public static func ping(every interval: Duration = .seconds(30), answerWithin timeout: Duration? = .seconds(20)) -> Self {
        Self(signal: .ping, interval: interval, answerTimeout: timeout)
    }

    /// A text of the application's at an interval.
    public static func text(_ text: String, every interval: Duration, answerWithin timeout: Duration? = nil) -> Self {
        Self(signal: .text(text), interval: interval, answerTimeout: timeout)
    }

    /// Nothing is sent, but a peer that is silent for so long is given up.
    public static func idle(after timeout: Duration) -> Self {
        Self(signal: nil, interval: timeout, answerTimeout: nil, idleTimeout: timeout)
    }
}
