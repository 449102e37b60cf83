public import ApusEngineIOServer
public import ApusSocketIOProtocol

/// How a Socket.IO server behaves. Every default is the reference server's, unless its comment says otherwise.
///
/// The fields of ``EngineIOServerConfiguration`` are fields of this one too:
///
/// ```swift
/// var configuration = SocketIOServerConfiguration()
/// configuration.pingInterval = .seconds(10)          // the engine's
/// configuration.connectTimeout = .seconds(15)        // Socket.IO's own
/// ```
@dynamicMemberLookup
public struct SocketIOServerConfiguration: Sendable {
    /// How the layer below behaves: transports, times, bounds, who may come. Its `path` is `/socket.io/` here, and its `allowRequest` may also
    /// throw a ``SocketIOConnectionRefusal``.
    public var engine: EngineIOServerConfiguration

    /// Takes what went wrong with one event of one socket.
    public typealias HandlerErrorHook = @Sendable (_ error: any Error, _ event: SocketIOEvent, _ socket: SocketIOServerSocket) -> Void

    /// Time a client has to join its first namespace before it is closed. Default: 45 seconds.
    public var connectTimeout: Duration = .seconds(45)
    /// Most bytes of the auth that a client sends with a CONNECT, before it is disconnected. It is kept, as it came, as long as
    /// the socket. Default: 8,192 (the reference has no bound of its own).
    public var maximumAuthBytes = 8_192
    /// Most attachments of one binary packet. Default: 10.
    public var maximumAttachments = 10
    /// Time the attachments of one packet may take, all together, before the client is disconnected. Default: 60 seconds (the reference waits
    /// for ever). Ten attachments of a megabyte need it on a line of 1.4 Mbit/s.
    public var attachmentsTimeout: Duration = .seconds(60)
    /// How packets are written. Clients must use the same. Default: JSON.
    public var parser: SocketIOParser = .json
    /// Most events that may wait for one socket's `async` handlers before it is disconnected. Default: 1,000.
    public var maximumWaitingEvents = 1_000
    /// Most bytes, as they came over the wire, of the events that wait for the `async` handlers of one client's sockets, before it is disconnected. One
    /// event may be larger. Default: 16 MiB.
    public var maximumWaitingEventBytes = 16 << 20
    /// Most namespaces one client may be in at a time; one more is refused. Default: 100 (the reference has no bound).
    public var maximumNamespacesPerClient = 100
    /// Time an emit with an ack waits for it where the call names no other. Default: 20 seconds (the reference waits for ever).
    public var ackTimeout: Duration = .seconds(20)
    /// Most acks waited for at once from one socket; one more fails with `bufferFull`. Default: 10,000.
    public var maximumWaitingAcks = 10_000
    /// Lets clients that lost their connection come back as the same socket and get what they missed. Default: off, and free.
    public var connectionStateRecovery: SocketIOConnectionStateRecovery?
    /// Gets what a socket's middleware or handler throws, and arguments that do not fit a handler, on the socket's event loop or in the task of
    /// an asynchronous handler. Default: a line in the log, without the payload.
    public var onHandlerError: HandlerErrorHook?
    /// The servers whose clients share namespaces and rooms with this one's, as far as a transport reaches them. Default: none.
    public var cluster: (any SocketIOClusterTransport)?
    /// Time the answers of the other servers are waited for where the call names no other: `fetchSockets`, `serverSideEmitWithAck`.
    /// Default: 5 seconds, as the reference's adapters.
    public var clusterTimeout: Duration = .seconds(5)
    /// Most calls that wait at once for other servers, or for the acks of a broadcast; one more fails with `bufferFull`. Default: 10,000.
    public var maximumWaitingRequests = 10_000
    /// Most namespaces that clients can bring about by asking for them; one more is an invalid namespace. Default: 10,000 (the reference has no
    /// bound).
    public var maximumDynamicNamespaces = 10_000
    /// Whether a dynamic namespace goes when its last socket leaves. Default: yes (the reference keeps every name a client ever asked for, unless
    /// `cleanupEmptyChildNamespaces` is set).
    public var removesEmptyDynamicNamespaces = true

    /// The defaults.
    public init() {
        self.engine = EngineIOServerConfiguration()
        self.engine.path = "/socket.io/"
    }

    /// A field of the engine's configuration.
    public subscript<Value>(dynamicMember field: WritableKeyPath<EngineIOServerConfiguration, Value>) -> Value {
        get { self.engine[keyPath: field] }
        set { self.engine[keyPath: field] = newValue }
    }
}
