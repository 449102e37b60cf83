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
    /// Most attachments of one binary packet. Default: 10.
    public var maximumAttachments = 10
    /// Time the attachments of one packet may take, all together, before the client is disconnected. Default: 60 seconds (the reference waits
    /// for ever). Ten attachments of a megabyte need it on a line of 1.4 Mbit/s.
    public var attachmentsTimeout: Duration = .seconds(60)
    /// How packets are written. Clients must use the same. Default: JSON.
    public var parser: SocketIOParser = .json
    /// Most events that may wait for one socket's `async` handlers before it is disconnected. Default: 1,000.
    public var maximumWaitingEvents = 1_000
    /// Time an emit with an ack waits for it where the call names no other. Default: 20 seconds (the reference waits for ever).
    public var ackTimeout: Duration = .seconds(20)
    /// Most acks waited for at once from one socket; one more fails with `bufferFull`. Default: 10,000.
    public var maximumWaitingAcks = 10_000
    /// Gets what a socket's middleware or handler throws, and arguments that do not fit a handler, on the socket's event loop or in the task of
    /// an asynchronous handler. Default: a line in the log, without the payload.
    public var onHandlerError: HandlerErrorHook?

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
