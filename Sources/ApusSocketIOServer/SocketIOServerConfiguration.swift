public import ApusEngineIOServer

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

    /// Time a client has to join its first namespace before it is closed. Default: 45 seconds.
    public var connectTimeout: Duration = .seconds(45)
    /// Most attachments of one binary packet. Default: 10.
    public var maximumAttachments = 10
    /// Most events that may wait for one socket's `async` handlers before it is disconnected. Default: 1,000.
    public var maximumWaitingEvents = 1_000

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
