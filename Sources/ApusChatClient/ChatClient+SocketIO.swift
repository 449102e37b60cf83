public import Logging

extension ChatClient {
    /// Opens the store and starts connecting. Returns immediately, even if the server is
    /// unreachable; see ``changes`` and ``state``.
    ///
    /// - Parameters:
    ///   - server: The server's address, for example `https://chat.example.com`.
    ///   - path: The path of this user's SQLite file, which is created if it does not exist. Only
    ///     one client at a time may use it.
    ///   - session: The result of ``login(server:name:password:device:configuration:)`` or
    ///     ``register(server:name:password:display:device:configuration:)``.
    ///   - configuration: The configuration.
    ///   - logger: Receives fixed messages with metadata, never the text of a message or a token.
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
