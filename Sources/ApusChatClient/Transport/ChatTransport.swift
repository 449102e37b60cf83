import ApusChatProtocol
import ApusJSON

/// What comes from the server, in order: the connection's life and the pushes in between.
enum ChatTransportEvent: Sendable {
    /// The namespace is joined. Requests work from here on.
    case connected
    /// The connection is gone. With `comesBack` the transport is making it again, without it waits for ``ChatTransport/connect()``.
    case disconnected(reason: String, comesBack: Bool)
    /// The server does not accept this session. Nothing more comes.
    case refused(ChatError)
    /// A push.
    case push(name: String, payload: JSONValue)
    /// Pushes came faster than they were taken, and some were dropped here.
    case pushesLost
}

/// The wire under the engine. The real one speaks Socket.IO; tests put one into memory.
protocol ChatTransport: Sendable {
    /// Everything from the server. One reader. Ends after ``close()``.
    var incoming: AsyncStream<ChatTransportEvent> { get }

    /// Starts connecting, and keeps at it. Harmless when it does already.
    func connect()

    /// Sends one request and waits for its ack. Throws `notConnected`, `timeout`, or what the server refused with.
    func request(_ event: String, _ payload: JSONValue) async throws(ChatClientError) -> JSONValue

    /// Leaves for good.
    func close() async
}

/// The pictures' way: HTTP.
protocol ChatBlobTransport: Sendable {
    /// Stores bytes on the server; the same bytes again are the same blob.
    func upload(_ bytes: [UInt8], type: String) async throws(ChatClientError) -> BlobReply
    /// Reads a blob of a conversation of ours.
    func download(_ blob: BlobID) async throws(ChatClientError) -> [UInt8]
}
