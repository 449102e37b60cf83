public import ApusChatProtocol

/// The session of a user on a server, as returned by a login or a registration. It contains the
/// token, so it must be kept secret.
public struct ChatSession: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The server's address, `http://host:port` or `https://host`.
    public var server: String
    /// The user.
    public var user: ChatUser
    /// The bearer token of this device.
    public var token: String
    /// The id of this device.
    public var device: String
    /// The expiry time of the token, in milliseconds since 1970.
    public var expires: Int64

    /// Creates a session.
    public init(server: String, user: ChatUser, token: String, device: String, expires: Int64) {
        self.server = server
        self.user = user
        self.token = token
        self.device = device
        self.expires = expires
    }

    /// The user and the server. Omits the token, so that logs do not disclose it.
    public var description: String { "\(self.user.name) at \(self.server)" }
}
