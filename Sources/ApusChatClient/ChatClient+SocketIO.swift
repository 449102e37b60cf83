public import Logging

extension ChatClient {
    /// Opens the store, and starts connecting. Returns at once, also when the server cannot be reached: see ``changes`` and ``state``.
    ///
    /// - Parameters:
    ///   - server: the server's address, as `https://chat.example.com`.
    ///   - path: the path of this user's SQLite file; created when absent. One client at a time.
    ///   - session: what ``login(server:name:password:device:configuration:)`` or ``register(server:name:password:display:device:configuration:)`` gave.
    ///   - configuration: see its members for the defaults.
    ///   - logger: fixed messages with metadata; never a text or a token.
    public static func open(
        server: String, store path: String, session: ChatSession, configuration: ChatClientConfiguration = .init(),
        logger: Logger = Logger(label: "apus.chat.client")
    ) async throws(ChatClientError) -> ChatClient {
        var session = session
        session.server = try ChatHTTP.canonical(server)
        let transport = SocketIOChatTransport(session: session, configuration: configuration, logger: logger)
        return try await self.open(store: path, session: session, transport: transport, configuration: configuration, logger: logger)
    }
}
