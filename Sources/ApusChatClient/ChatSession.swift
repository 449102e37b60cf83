public import ApusChatProtocol

/// Who is logged in where: what a login or a registration answers. Keep it as secret as a password: the token is inside.
public struct ChatSession: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The server's address, `http://host:port` or `https://host`.
    public var server: String
    /// The user.
    public var user: ChatUser
    /// The bearer token of this device.
    public var token: String
    /// This device.
    public var device: String
    /// When the token ends, in milliseconds since 1970.
    public var expires: Int64

    /// A session as a login answered it.
    public init(server: String, user: ChatUser, token: String, device: String, expires: Int64) {
        self.server = server
        self.user = user
        self.token = token
        self.device = device
        self.expires = expires
    }

    /// Without the token, so that printing a session does not give it away.
    public var description: String { "\(self.user.name) at \(self.server)" }
}
