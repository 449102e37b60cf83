package import ApusChatProtocol
package import ApusJSON

/// An event from the server: a change of the connection, or a push.
package enum ChatTransportEvent: Sendable {
    /// Requests can be sent.
    case connected
    /// The connection is lost. If `comesBack` is false, the transport waits for
    /// ``ChatTransport/connect()``.
    case disconnected(comesBack: Bool)
    /// The server did not accept the access token, or not this client.
    case refused(ChatError)
    case push(name: String, payload: JSONValue)
    /// Pushes were dropped because the queue was full.
    case pushesLost
}

/// The connection below the engine: Socket.IO, or a server in the process of a test.
package protocol ChatTransport: Sendable {
    /// The events from the server, for one reader. Ends after ``close()``.
    var incoming: AsyncStream<ChatTransportEvent> { get }
    /// Connects, and reconnects after failures.
    func connect()
    /// Drops the connection until ``connect()``.
    func disconnect()
    /// Sends a request and returns its acknowledgement. Throws `notConnected`, `timeout` or
    /// `closed`.
    func request(_ verb: String, _ payload: JSONValue) async throws(ChatClientError) -> JSONValue
    /// Disconnects for good.
    func close() async
}

/// The routes of the server beside the connection.
package protocol ChatHTTPTransport: Sendable {
    /// `POST`s an object and returns the answer.
    func post(_ path: String, _ payload: JSONValue, access: String?) async throws(ChatClientError) -> JSONValue
    /// Creates an upload (tus) and returns its path.
    func createUpload(_ upload: UploadDescription, access: String) async throws(ChatClientError) -> String
    /// Returns the offset up to which the server has the bytes; nil if the upload is unknown.
    func uploadOffset(_ location: String, access: String) async throws(ChatClientError) -> Int64?
    /// Appends bytes. Returns the new offset, and the blob after the last byte.
    func append(_ bytes: [UInt8], at offset: Int64, to location: String, access: String) async throws(ChatClientError) -> UploadProgress
    /// Downloads a blob, or a smaller picture of it.
    func download(_ blob: BlobID, size: Int?, owner: BlobOwner?, access: String) async throws(ChatClientError) -> [UInt8]
    /// Returns the content of a path.
    func get(_ path: String, access: String) async throws(ChatClientError) -> [UInt8]
    /// Closes the connections.
    func shutdown()
}

/// The user or conversation whose picture a blob is: others may read it as that only.
package enum BlobOwner: Sendable, Hashable {
    case user(UserName)
    case conversation(ConversationID)
}

/// What the server is told of an upload.
package struct UploadDescription: Sendable, Hashable {
    package var name: String?
    package var type: String
    package var size: Int64
}

/// The state of an upload.
package struct UploadProgress: Sendable, Hashable {
    package var offset: Int64
    /// The complete upload.
    package var blob: UploadedBlob?

    package init(offset: Int64, blob: UploadedBlob? = nil) {
        self.offset = offset
        self.blob = blob
    }
}

/// A complete upload, as the server measured it.
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
