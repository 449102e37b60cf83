/// The detection of a dead peer on a connection that reports no error.
///
/// A half-open connection (a phone without network, a NAT that dropped its entry) is silent but
/// appears open. It is detected only if the peer does not answer a signal.
public struct WebSocketHeartbeat: Hashable, Sendable {
    /// The kind of a heartbeat signal.
    public enum Signal: Hashable, Sendable {
        /// A Ping frame, which every WebSocket implementation answers.
        case ping
        /// A text message that the peer's application understands, for servers that require one.
        case text(String)
    }

    /// The signal to send. With `nil`, no signal is sent, and only ``idleTimeout`` applies.
    public var signal: Signal?

    /// The time between two signals.
    ///
    /// Unit: `Duration`. Default: 30 seconds, below the minute after which many proxies drop a
    /// silent connection.
    public var interval: Duration

    /// The maximum time for the answer to a signal; `nil` if no answer is expected.
    ///
    /// Unit: `Duration`. Default: 20 seconds for a Ping, `nil` for a text. A Pong answers a Ping,
    /// and any message answers a text. Received bytes restart the time, because the answer may
    /// follow a large message.
    public var answerTimeout: Duration?

    /// The maximum time without received bytes; `nil` for no limit.
    ///
    /// Unit: `Duration`. Default: `nil`. A Pong counts as received bytes, so with Pings this is
    /// only an additional deadline.
    public var idleTimeout: Duration?

    private init(signal: Signal?, interval: Duration, answerTimeout: Duration?, idleTimeout: Duration? = nil) {
        self.signal = signal
        self.interval = interval
        self.answerTimeout = answerTimeout
        self.idleTimeout = idleTimeout
    }

    /// Sends no signal and sets no deadline.
    public static let none = Self(signal: nil, interval: .seconds(30), answerTimeout: nil)

    /// Sends Ping frames at an interval.
    ///
    /// - Parameters:
    ///   - interval: The time between two Pings. Default: 30 seconds.
    ///   - timeout: The maximum time for the Pong; `nil` if no Pong is expected. Default: 20
    ///     seconds.
    public static func ping(every interval: Duration = .seconds(30), answerWithin timeout: Duration? = .seconds(20)) -> Self {
        Self(signal: .ping, interval: interval, answerTimeout: timeout)
    }

    /// Sends a text message at an interval.
    ///
    /// - Parameters:
    ///   - text: The text to send.
    ///   - interval: The time between two texts.
    ///   - timeout: The maximum time for a message from the peer; `nil` (the default) if no message
    ///     is expected.
    public static func text(_ text: String, every interval: Duration, answerWithin timeout: Duration? = nil) -> Self {
        Self(signal: .text(text), interval: interval, answerTimeout: timeout)
    }

    /// Sends no signal, but closes the connection when no bytes are received for `timeout`.
    public static func idle(after timeout: Duration) -> Self {
        Self(signal: nil, interval: timeout, answerTimeout: nil, idleTimeout: timeout)
    }
}
