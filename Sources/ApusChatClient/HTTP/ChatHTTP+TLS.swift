import ApusConnectivity
import AsyncHTTPClient
import NIOCore

extension ChatHTTP {
    /// Redirects are not followed: a token goes to the server it was made for and to no other.
    ///
    /// - Throws: `badInput` for a pinned certificate or another name, which async-http-client cannot check. Nothing is sent rather than sent
    ///   unchecked.
    static func clientConfiguration(_ configuration: ChatClientConfiguration) throws(ChatClientError) -> HTTPClient.Configuration {
        var client = HTTPClient.Configuration()
        client.connectionPool.retryConnectionEstablishment = false  // a refused connection is news at once
        client.redirectConfiguration = .disallow
        client.timeout.connect = .milliseconds(configuration.requestTimeout.milliseconds)
        guard !configuration.tls.needsOwnVerification else {
            throw ChatClientError(
                .badInput,
                message: "the chat client cannot check pins or another server name yet: trust an authority, and use the name in the address"
            )
        }
        do {
            client.tlsConfiguration = try configuration.tls.makeConfiguration()
        } catch {
            throw ChatClientError(.badInput, message: error.message, cause: error)
        }
        return client
    }
}
