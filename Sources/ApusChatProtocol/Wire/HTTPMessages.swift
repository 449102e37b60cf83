/// `POST /api/register`.
public struct RegisterRequest: Hashable, Sendable, Codable {
    /// 4 to 15 of letters, digits, `_`; no `_` at either end.
    public var name: String
    /// At least 8 characters.
    public var password: String
    /// The name to show; the name itself when absent.
    public var display: String?
    /// What to call this device in a list of devices.
    public var device: String?

    /// A request with all its parts.
    public init(name: String, password: String, display: String? = nil, device: String? = nil) {
        self.name = name
        self.password = password
        self.display = display
        self.device = device
    }
}

/// `POST /api/login`.
public struct LoginRequest: Hashable, Sendable, Codable {
    /// The name.
    public var name: String
    /// The password.
    public var password: String
    /// What to call this device in a list of devices.
    public var device: String?

    /// A request with all its parts.
    public init(name: String, password: String, device: String? = nil) {
        self.name = name
        self.password = password
        self.device = device
    }
}

/// The answer to `register` and `login`.
public struct SessionReply: Hashable, Sendable, Codable {
    /// Who you are.
    public var user: ChatUser
    /// The secret of this device: `Authorization: Bearer …` in HTTP, `{token}` as Socket.IO auth. The server keeps only its hash.
    public var token: String
    /// The id of this device.
    public var device: String
    /// When the token ends, in milliseconds since 1970.
    public var expires: Int64

    /// An answer with all its parts.
    public init(user: ChatUser, token: String, device: String, expires: Int64) {
        self.user = user
        self.token = token
        self.device = device
        self.expires = expires
    }
}

/// The answer to `POST /api/blobs`: what the server found in the bytes.
public struct BlobReply: Hashable, Sendable, Codable {
    /// The SHA-256 of the bytes.
    public var blob: BlobID
    /// In bytes.
    public var size: Int
    /// `image/png`, `image/jpeg`, `image/gif`, `image/webp` or `application/octet-stream`: sniffed, whatever the client said.
    public var type: String
    /// In pixels; nil when it is no picture.
    public var width: Int?
    /// In pixels; nil when it is no picture.
    public var height: Int?

    /// An answer with all its parts.
    public init(blob: BlobID, size: Int, type: String, width: Int? = nil, height: Int? = nil) {
        self.blob = blob
        self.size = size
        self.type = type
        self.width = width
        self.height = height
    }
}
