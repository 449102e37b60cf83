import ApusChatProtocol
import ApusJSON

/// An event from the server: a change of the connection, or a push.
enum ChatTransportEvent: Sendable {
    /// The client joined the namespace and can send requests.
    case connected
    /// The connection is lost. If `comesBack` is false, the transport does not reconnect until
    /// ``ChatTransport/connect()``.
    case disconnected(reason: String, comesBack: Bool)
    /// The server rejected the session. No events follow.
    case refused(ChatError)
    /// A push.
    case push(name: String, payload: JSONValue)
    /// Pushes were dropped because the queue was full.
    case pushesLost
}

/// The connection under the engine: Socket.IO, or an in-memory implementation in tests.
protocol ChatTransport: Sendable {
    /// The events from the server, for one reader. Ends after ``close()``.
    var incoming: AsyncStream<ChatTransportEvent> { get }

    /// Connects, and reconnects after failures. Does nothing if it is already connecting.
    func connect()

    /// Sends a request and waits for its acknowledgement. Throws `notConnected`, `timeout` or
    /// `closed`.
    func request(_ event: String, _ payload: JSONValue) async throws(ChatClientError) -> JSONValue

    /// Disconnects permanently.
    func close() async
}

/// The HTTP transport for pictures.
protocol ChatBlobTransport: Sendable {
    /// Stores bytes on the server. The same bytes yield the same blob.
    func upload(_ bytes: [UInt8], type: String) async throws(ChatClientError) -> BlobReply
    /// Downloads a blob of one of the user's conversations.
    func download(_ blob: BlobID) async throws(ChatClientError) -> [UInt8]
}
