import AsyncHTTPClient
import NIOCore

extension ChatHTTP {
    /// Redirects are not followed: a token goes to the server it was made for and to no other.
    static func clientConfiguration(_ configuration: ChatClientConfiguration) -> HTTPClient.Configuration {
        var client = HTTPClient.Configuration()
        client.redirectConfiguration = .disallow
        client.timeout.connect = .milliseconds(configuration.requestTimeout.milliseconds)
        return client
    }
}
