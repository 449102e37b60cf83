/// `mark` from the server: somebody has read up to here.
public struct ChatMark: Hashable, Sendable, Codable {
    /// In which conversation.
    public var conv: ConversationID
    /// Who; you yourself, when it was another device of yours.
    public var user: UserID
    /// The ordinal (`n`) of the last message they have read.
    public var read: Int64

    /// A mark with all its parts.
    public init(conv: ConversationID, user: UserID, read: Int64) {
        self.conv = conv
        self.user = user
        self.read = read
    }

    /// Reads the fields. A number below zero is refused.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.conv = try container.decode(ConversationID.self, forKey: .conv)
        self.user = try container.decode(UserID.self, forKey: .user)
        self.read = try container.decodeCount(forKey: .read)
    }
}

/// `presence` from the server: somebody came or went.
public struct ChatPresence: Hashable, Sendable, Codable {
    /// Who.
    public var user: UserID
    /// Whether a device of theirs is connected.
    public var online: Bool
    /// Since when, in milliseconds since 1970.
    public var at: Int64

    /// A presence with all its parts.
    public init(user: UserID, online: Bool, at: Int64) {
        self.user = user
        self.online = online
        self.at = at
    }
}

/// `bye` from the server: the connection ends now, and why.
public struct ChatBye: Hashable, Sendable, Codable {
    /// Why. Open.
    public struct Reason: Hashable, Sendable, Codable, RawRepresentable {
        /// The text that goes over the wire.
        public let rawValue: String
        /// Any reason, listed or not.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// This device was signed out. Do not connect again with this token.
        public static let loggedOut = Self(rawValue: "logged_out")
        /// The token's time is over. Sign in again.
        public static let expired = Self(rawValue: "expired")
        /// The server stops. Connect again in a while.
        public static let shutdown = Self(rawValue: "shutdown")

        /// Whether to connect again with the same token.
        public var permitsReconnect: Bool { self != .loggedOut && self != .expired }
    }

    /// Why.
    public var reason: Reason

    /// A farewell with its reason.
    public init(reason: Reason) { self.reason = reason }
}
