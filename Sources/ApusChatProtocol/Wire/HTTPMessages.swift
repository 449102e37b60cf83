/// The body of `POST /api/register`.
public struct RegisterRequest: Hashable, Sendable, Codable {
    /// The account name: 4 to 15 letters, digits or `_`, without `_` at either end.
    public var name: String
    /// At least 8 characters.
    public var password: String
    /// The display name; the account name when absent.
    public var display: String?
    /// A label for the device.
    public var device: String?

    /// Creates a request.
    public init(name: String, password: String, display: String? = nil, device: String? = nil) {
        self.name = name
        self.password = password
        self.display = display
        self.device = device
    }
}

/// The body of `POST /api/login`.
public struct LoginRequest: Hashable, Sendable, Codable {
    /// The account name.
    public var name: String
    /// The password.
    public var password: String
    /// A label for the device.
    public var device: String?

    /// Creates a request.
    public init(name: String, password: String, device: String? = nil) {
        self.name = name
        self.password = password
        self.device = device
    }
}

/// The answer to `register` and `login`.
public struct SessionReply: Hashable, Sendable, Codable {
    /// The user who signed in.
    public var user: ChatUser
    /// The secret of this device: `Authorization: Bearer …` in HTTP, `{token}` as Socket.IO auth.
    /// The server stores only its hash.
    public var token: String
    /// The id of this device.
    public var device: String
    /// The expiry time of the token, in milliseconds since 1970.
    public var expires: Int64

    /// Creates an answer.
    public init(user: ChatUser, token: String, device: String, expires: Int64) {
        self.user = user
        self.token = token
        self.device = device
        self.expires = expires
    }
}

/// The answer to `POST /api/blobs`: the properties that the server detected.
public struct BlobReply: Hashable, Sendable, Codable {
    /// The SHA-256 of the bytes.
    public var blob: BlobID
    /// The size in bytes.
    public var size: Int
    /// The media type detected from the bytes: `image/png`, `image/jpeg`, `image/gif`, `image/webp`
    /// or `application/octet-stream`.
    public var type: String
    /// The width in pixels; nil when the bytes are not a picture.
    public var width: Int?
    /// The height in pixels; nil when the bytes are not a picture.
    public var height: Int?

    /// Creates an answer.
    public init(blob: BlobID, size: Int, type: String, width: Int? = nil, height: Int? = nil) {
        self.blob = blob
        self.size = size
        self.type = type
        self.width = width
        self.height = height
    }
}
