package import ApusChatProtocol
package import ApusJSON

/// An event from the server: a change of the connection, a push, or an answer.
package enum ChatTransportEvent: Sendable {
    /// The connection is established. Requests can be sent.
    case connected
    /// The connection is lost. If `reconnects` is false, the transport does not reconnect before
    /// ``ChatTransport/connect()`` is called.
    case disconnected(reconnects: Bool)
    /// The connection cannot be established with the current access token or configuration.
    case refused(ChatError)
    case push(name: String, payload: JSONValue)
    /// The answer to the request of this number, or the error of a request that is not answered:
    /// `notConnected` or `timeout`.
    case answer(Int, Result<JSONValue, ChatClientError>)
    /// Pushes were dropped because the queue was full.
    case pushesLost
}

/// The connection of the engine to a server: Socket.IO, or a server in the same process in tests.
package protocol ChatTransport: Sendable {
    /// The events from the server in the order in which they were received, for one reader. Ends
    /// after ``close()``.
    var incoming: AsyncStream<ChatTransportEvent> { get }
    /// Connects, and reconnects after failures.
    func connect()
    /// Closes the connection and does not reconnect before ``connect()``.
    func disconnect()
    /// Sends a request. ``incoming`` delivers exactly one answer with the given number, unless
    /// ``close()`` is called first.
    func send(_ verb: String, _ payload: JSONValue, number: Int)
    /// Closes the connection for the last time.
    func close() async
}

/// The HTTP requests of a client, in addition to the connection.
package protocol ChatHTTPTransport: Sendable {
    /// Sends an object with POST and returns the answer.
    func post(_ path: String, _ payload: JSONValue, access: String?) async throws(ChatClientError) -> JSONValue
    /// Creates an upload (tus) and returns its path on the server.
    func createUpload(_ upload: UploadDescription, access: String) async throws(ChatClientError) -> String
    /// Returns the number of bytes of an upload that the server has stored; nil if the upload does
    /// not exist.
    func uploadOffset(_ location: String, access: String) async throws(ChatClientError) -> Int64?
    /// Appends bytes to an upload. Returns the new offset and, after the last byte, the blob.
    func append(_ bytes: [UInt8], at offset: Int64, to location: String, access: String) async throws(ChatClientError) -> UploadProgress
    /// Removes an unfinished upload.
    func removeUpload(_ location: String, access: String) async throws(ChatClientError)
    /// Downloads a blob or, if `size` is given, a smaller version of a picture.
    func download(_ blob: BlobID, size: Int?, owner: BlobOwner?, access: String) async throws(ChatClientError) -> [UInt8]
    /// Sends a GET request and writes the content to a file, with access for its owner only. An
    /// existing file is replaced after the last byte has arrived.
    func save(_ path: String, to file: String, access: String) async throws(ChatClientError)
    /// Closes the connections.
    func shutdown()
}

/// The user, the conversation or the invite link to which a picture belongs. A request for the
/// picture of another user must contain the owner.
package enum BlobOwner: Sendable, Hashable {
    case user(UserName)
    case conversation(ConversationID)
    /// The conversation of an invite link.
    case link(LinkCode)
}

/// The properties of a new upload.
package struct UploadDescription: Sendable, Hashable {
    package var name: String?
    package var type: String
    package var size: Int64
}

/// The state of an upload after some bytes were appended.
package struct UploadProgress: Sendable, Hashable {
    package var offset: Int64
    /// The blob of the upload; nil before the last byte.
    package var blob: UploadedBlob?

    package init(offset: Int64, blob: UploadedBlob? = nil) {
        self.offset = offset
        self.blob = blob
    }
}

/// The properties of a complete upload, as the server measured them.
package struct UploadedBlob: Sendable, Hashable {
    package var id: BlobID
    package var type: String
    package var size: Int64
    package var width: Int64?
    package var height: Int64?

    package init(id: BlobID, type: String, size: Int64, width: Int64? = nil, height: Int64? = nil) {
        self.id = id
        self.type = type
        self.size = size
        self.width = width
        self.height = height
    }
}
