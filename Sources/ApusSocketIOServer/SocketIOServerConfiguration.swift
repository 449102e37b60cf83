public import ApusEngineIOServer
public import ApusSocketIOProtocol

/// The settings of a Socket.IO server. The defaults are those of socket.io for Node, unless a
/// comment says otherwise.
///
/// ``engine`` contains the settings of the underlying Engine.IO server:
///
/// ```swift
/// var configuration = SocketIOServerConfiguration()
/// configuration.engine.pingInterval = .seconds(10)
/// configuration.connectTimeout = .seconds(15)
/// ```
public struct SocketIOServerConfiguration: Sendable {
    /// The settings of the Engine.IO server: transports, timeouts, limits and admission. The
    /// default `path` is `/socket.io/`, and `allowRequest` may also throw a
    /// ``SocketIOConnectionRefusal``.
    public var engine: EngineIOServerConfiguration

    /// A closure that handles an error of one event of one socket.
    public typealias HandlerErrorHook =
        @Sendable (_ error: any Error, _ event: SocketIOReceivedEvent, _ socket: SocketIOServerSocket) -> Void

    /// The maximum time until a client joins its first namespace, after which the server closes the
    /// connection. Default: 45 seconds.
    public var connectTimeout: Duration = .seconds(45)
    /// The maximum number of bytes of the auth in a CONNECT. A client that sends more is
    /// disconnected. The server stores the auth as long as the socket. Default: 8,192. socket.io
    /// for Node has no separate limit.
    public var maximumAuthBytes = 8_192
    /// The maximum number of attachments of one binary packet. Default: 10.
    public var maximumAttachments = 10
    /// The maximum time for receiving all attachments of one packet, after which the client is
    /// disconnected. Default: 60 seconds; socket.io for Node has no limit. Ten attachments of a
    /// megabyte each require that time at 1.4 Mbit/s.
    public var attachmentsTimeout: Duration = .seconds(60)
    /// The encoding of packets. Clients must use the same encoding. Default: JSON.
    public var parser: SocketIOParser = .json
    /// The maximum number of events that wait for one socket's `async` handlers. A further
    /// event disconnects the client. Default: 1,000.
    public var maximumWaitingEvents = 1_000
    /// The maximum number of bytes, as received, of the events that wait for the `async` handlers
    /// of one client's sockets. An event that exceeds the limit disconnects the client, unless no
    /// other event waits. Default: 16 MiB.
    public var maximumWaitingEventBytes = 16 << 20
    /// The maximum number of namespaces that a client may join. Further CONNECTs are refused.
    /// Default:
    /// 100. socket.io for Node has no limit.
    public var maximumNamespacesPerClient = 100
    /// The time to wait for the ack of an event, or for the acks of a broadcast, for calls that
    /// specify no timeout. Default: 20 seconds. socket.io for Node has no limit. For the start of
    /// the time, see ``SocketIOServerSocket/emitWithAck(_:arguments:timeout:)`` and
    /// ``SocketIOBroadcasting/emitWithAck(_:arguments:)``.
    public var ackTimeout: Duration = .seconds(20)
    /// The maximum number of pending acks of one socket. Further events that request an ack fail
    /// with `bufferFull`. Default: 10,000.
    public var maximumPendingAcks = 10_000
    /// The settings with which clients that lost their connection resume as the same socket and
    /// receive the events that they missed. Default: `nil`, no recovery and no overhead.
    public var connectionStateRecovery: SocketIOConnectionStateRecovery?
    /// A closure that receives the errors of a socket's middleware and handlers, including
    /// arguments that do not match a handler's types. It is called on the socket's event loop or in
    /// the task of an asynchronous handler. Default: `nil`, the error is logged without the
    /// payload.
    public var onHandlerError: HandlerErrorHook?
    /// The observers of the sockets and events, for metrics and traces. Default: none.
    public var observers: [any SocketIOServerObserver] = []
    /// The transport to the servers that share namespaces and rooms with this one. Default: none.
    public var cluster: (any SocketIOClusterTransport)?
    /// The default time to wait for the responses of other servers, in `fetchSockets` and
    /// `serverSideEmitWithAck`. Default: 5 seconds, as in Node's adapters.
    public var clusterTimeout: Duration = .seconds(5)
    /// The maximum number of pending requests: broadcasts that wait for acks, and calls of
    /// `fetchSockets` and `serverSideEmitWithAck`. Further requests fail with `bufferFull`.
    /// Default: 10,000.
    public var maximumPendingRequests = 10_000
    /// The maximum number of namespaces created by the CONNECTs of clients. A CONNECT that would
    /// create a further namespace is refused with "Invalid namespace". Default: 10,000. socket.io
    /// for Node has no limit.
    public var maximumDynamicNamespaces = 10_000
    /// Whether a dynamic namespace is removed when its last socket leaves. Default: `true`.
    /// socket.io for Node keeps empty namespaces unless `cleanupEmptyChildNamespaces` is set.
    public var removesEmptyDynamicNamespaces = true

    /// Creates a configuration with the defaults.
    public init() {
        self.engine = EngineIOServerConfiguration()
        self.engine.path = "/socket.io/"
    }
}
