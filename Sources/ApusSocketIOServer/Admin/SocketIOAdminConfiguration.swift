/// How the admin page may look at a server, and what it may do to it.
public struct SocketIOAdminConfiguration: Sendable {
    /// Who may use the admin page.
    public struct Authentication: Sendable {
        enum Value { case none, basic(username: String, password: SocketIOAdminPassword) }
        let value: Value

        /// Whoever reaches the server. Only where nobody else does.
        public static let none = Self(value: .none)

        /// Whoever knows the name and the password; only the password's hash is kept.
        public static func basic(username: String, password: SocketIOAdminPassword) -> Self {
            Self(value: .basic(username: username, password: password))
        }
    }

    /// How much the page is told.
    public struct Mode: Hashable, Sendable {
        private enum Value { case development, production }
        private let value: Value

        /// Every socket, room and event, one by one. Costs an emit to the page for each.
        public static let development = Self(value: .development)
        /// Sums only, every two seconds.
        public static let production = Self(value: .production)
    }

    /// The namespace of the page. Default: `/admin`.
    public var namespace = "/admin"
    /// Who may use the page. There is no default.
    public var authentication: Authentication
    /// Whether the page may only look. Default: no.
    public var isReadOnly = false
    /// How much the page is told. Default: everything.
    public var mode = Mode.development
    /// The server's name on the page. Default: the host's name.
    public var serverID: String?
    /// Time after which a login has to be repeated. Default: one day.
    public var sessionLifetime: Duration = .seconds(86_400)
    /// Time between two messages with the server's figures. Default: 2 seconds, the reference's.
    public var statisticsInterval: Duration = .seconds(2)

    /// - Parameter authentication: Who may use the page.
    public init(authentication: Authentication) {
        self.authentication = authentication
    }
}
