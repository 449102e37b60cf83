public import ApusChatProtocol
public import ApusConnectivity
public import ApusEventLoop

/// Configures a chat client. The defaults suit an interactive chat application.
public struct ChatClientConfiguration: Sendable {
    /// The timeout of a request. Default: 10 s.
    public var requestTimeout: Duration = .seconds(10)

    /// The timeout of a picture's upload or download. Default: 120 s, enough for 10 MiB over a slow
    /// mobile link.
    public var transferTimeout: Duration = .seconds(120)

    /// The delays between attempts to reconnect. Default: 0.5 s doubling to 5 s, without an end,
    /// because the user is waiting.
    public var reconnection: ReconnectionPolicy = .exponential(from: .milliseconds(500), to: .seconds(5))

    /// The delay before reconnecting after the server closed the connection. Default: 2 s, about
    /// the time of a restart.
    public var serverCloseDelay: Duration = .seconds(2)

    /// The verification of the server's certificate. Default: the system's roots.
    public var tls: TLSSettings = .init()

    /// The proxy for requests and for the connection. Default: none. `ProxySettings.environment`
    /// reads it from the environment.
    public var proxy: ProxySettings = .none

    /// The overlap of a `sync` with the previous one. Default: 10 s, because a transaction may
    /// commit after a later one was read (docs/chat-rules.md, 5). Sequence numbers make repeated
    /// events harmless.
    public var syncOverlap: Duration = .seconds(10)

    /// The maximum number of conversations whose events are fetched at the same time. Default: 4.
    public var maximumPulls: Int = 4

    /// The number of changes buffered for each reader of ``ChatClient/changes``. Beyond it, the
    /// oldest are dropped; the store contains all of them. Default: 4,096.
    public var changeBuffer: Int = 4_096

    /// The number of buffered pushes. Beyond it, pushes are dropped and fetched by a sync. Default:
    /// 4,096.
    public var pushBuffer: Int = 4_096

    /// The settings for following logs.
    public var sync: SyncConfiguration = .init()

    /// The delays before a failed message is sent again over the same connection; a new connection
    /// sends it immediately. Default: 1 s doubling to 30 s, with a random variation of half. When
    /// the policy ends, the message waits for the next connection.
    public var resending: ReconnectionPolicy = .exponential(from: .seconds(1), to: .seconds(30))

    /// The settings for sending messages.
    public var outbox: OutboxConfiguration = .init()

    /// Creates a configuration with the default values.
    public init() {}
}
