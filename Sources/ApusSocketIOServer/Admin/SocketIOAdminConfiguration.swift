/// The settings of the admin page: authentication, permissions and level of detail.
public struct SocketIOAdminConfiguration: Sendable {
    /// The authentication of the admin page.
    public struct Authentication: Sendable {
        enum Value { case none, basic(username: String, password: SocketIOAdminPassword) }
        let value: Value

        /// No authentication. Use it only if no other host can reach the server.
        public static let none = Self(value: .none)

        /// A user name and a password. Only the password's hash is stored.
        ///
        /// - Parameters:
        ///   - username: The user name.
        ///   - password: The hash of the password.
        public static func basic(username: String, password: SocketIOAdminPassword) -> Self {
            Self(value: .basic(username: username, password: password))
        }
    }

    /// The level of detail that the page receives.
    public struct Mode: Hashable, Sendable {
        private enum Value { case development, production }
        private let value: Value

        /// Every socket, room and event. Each change is sent to the page as one event.
        public static let development = Self(value: .development)
        /// Totals only, sent every ``SocketIOAdminConfiguration/statisticsInterval``.
        public static let production = Self(value: .production)
    }

    /// The namespace of the page. Default: `/admin`.
    public var namespace = "/admin"
    /// The authentication of the page. There is no default.
    public var authentication: Authentication
    /// Whether the page cannot send commands. Default: `false`.
    public var isReadOnly = false
    /// The level of detail that the page receives. Default: `development`.
    public var mode = Mode.development
    /// The server's name on the page. Default: the host's name.
    public var serverID: String?
    /// The time after which a login must be repeated. Default: one day.
    public var sessionLifetime: Duration = .seconds(86_400)
    /// The time between two messages with the server's statistics. Default: 2 seconds, as in
    /// `@socket.io/admin-ui`.
    public var statisticsInterval: Duration = .seconds(2)

    /// Creates a configuration with the default values of the other properties.
    ///
    /// - Parameter authentication: The authentication of the page.
    public init(authentication: Authentication) {
        self.authentication = authentication
    }
}
