/// The payload of `mark` from the server: a member's new read position.
public struct ChatMark: Hashable, Sendable, Codable {
    /// The conversation.
    public var conv: ConversationID
    /// The member; the recipient itself when another of its devices sent the mark.
    public var user: UserID
    /// The ordinal (`n`) of the last message that the member has read.
    public var read: Int64

    /// Creates a mark.
    public init(conv: ConversationID, user: UserID, read: Int64) {
        self.conv = conv
        self.user = user
        self.read = read
    }

    /// Reads the fields. Rejects negative counters.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.conv = try container.decode(ConversationID.self, forKey: .conv)
        self.user = try container.decode(UserID.self, forKey: .user)
        self.read = try container.decodeCount(forKey: .read)
    }
}

/// The payload of `presence` from the server: a user's new presence.
public struct ChatPresence: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserID
    /// Whether a device of the user is connected.
    public var online: Bool
    /// The time of the change, in milliseconds since 1970.
    public var at: Int64

    /// Creates a presence.
    public init(user: UserID, online: Bool, at: Int64) {
        self.user = user
        self.online = online
        self.at = at
    }
}

/// The payload of `bye` from the server: the reason for closing the connection.
public struct ChatBye: Hashable, Sendable, Codable {
    /// The reason. Later servers may send reasons that are not listed here.
    public struct Reason: Hashable, Sendable, Codable, RawRepresentable {
        /// The reason on the wire.
        public let rawValue: String
        /// Creates a reason, which need not be one of the listed ones.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The device was signed out. Do not reconnect with this token.
        public static let loggedOut = Self(rawValue: "logged_out")
        /// The token has expired. Sign in again.
        public static let expired = Self(rawValue: "expired")
        /// The server is shutting down. Reconnect later.
        public static let shutdown = Self(rawValue: "shutdown")

        /// Whether the client may reconnect with the same token.
        public var permitsReconnect: Bool { self != .loggedOut && self != .expired }
    }

    /// The reason.
    public var reason: Reason

    /// Creates a payload.
    public init(reason: Reason) { self.reason = reason }
}
