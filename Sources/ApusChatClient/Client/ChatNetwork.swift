package import Logging

/// Creates the connections of a client. Tests connect to a server in the same process instead.
package struct ChatNetwork: Sendable {
    package var http: @Sendable (_ server: String, ChatClientConfiguration) throws(ChatClientError) -> any ChatHTTPTransport
    /// Creates the Socket.IO transport. The closure argument returns an access token for each
    /// connection.
    package var connect:
        @Sendable (_ server: String, @escaping @Sendable () async throws -> String, ChatClientConfiguration, Logger) -> any ChatTransport

    package init(
        http: @escaping @Sendable (_ server: String, ChatClientConfiguration) throws(ChatClientError) -> any ChatHTTPTransport,
        connect:
            @escaping @Sendable (
                _ server: String, @escaping @Sendable () async throws -> String, ChatClientConfiguration, Logger
            ) -> any ChatTransport
    ) {
        self.http = http
        self.connect = connect
    }

    func transport(
        _ server: String, _ tokens: SessionTokens, _ configuration: ChatClientConfiguration, _ logger: Logger
    ) -> any ChatTransport {
        self.connect(server, { try await tokens.access() }, configuration, logger)
    }
}
