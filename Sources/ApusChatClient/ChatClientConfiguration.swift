public import ApusChatProtocol
public import ApusConnectivity

/// How a chat client behaves. The defaults fit a person's chat program.
public struct ChatClientConfiguration: Sendable {
    /// How long the server may take to answer a request. Default: 10 s.
    public var requestTimeout: Duration = .seconds(10)

    /// How long an upload or download of a picture may take. Default: 120 s, 10 MiB at a slow mobile link.
    public var transferTimeout: Duration = .seconds(120)

    /// How the connection is made again after a loss. Default: 0.5 s doubling to 5 s, for ever, as a person is waiting.
    public var reconnection: ReconnectionPolicy = .exponential(from: .milliseconds(500), to: .seconds(5))

    /// The wait before connecting again after the server itself ended the connection. Default: 2 s, about a restart.
    public var serverCloseDelay: Duration = .seconds(2)

    /// How the server's certificate is verified. Default: the system's roots.
    public var tls: TLSSettings = .init()

    /// The proxy to connect through, for the requests and the connection. Default: none;
    /// `ProxySettings.environment` does what the environment says.
    public var proxy: ProxySettings = .none

    /// How far `sync` reaches back before the time of the last one. Default: 10 s (chat rule 5): a transaction may commit after a later one was
    /// read; sequence numbers make the overlap harmless.
    public var syncOverlap: Duration = .seconds(10)

    /// Conversations whose history is fetched at the same time. Default: 4.
    public var maximumPulls: Int = 4

    /// Changes kept for a reader of ``ChatClient/changes`` who does not keep up; beyond, the oldest are dropped (the store has everything).
    /// Default: 4,096.
    public var changeBuffer: Int = 4_096

    /// Pushes of the server that may wait for the client's store; beyond, the rest is dropped and fetched by a sync. Default: 4,096.
    public var pushBuffer: Int = 4_096

    /// How logs are followed.
    public var sync: SyncConfiguration = .init()

    /// When a message that did not get through is sent again over the same connection; a new connection sends it at once. Default: 1 s doubling to
    /// 30 s, varied by half. Where the policy gives up, the message waits for the next connection.
    public var resending: ReconnectionPolicy = .exponential(from: .seconds(1), to: .seconds(30))

    /// How many messages travel at the same time.
    public var outbox: OutboxConfiguration = .init()

    /// The defaults above.
    public init() {}
}
