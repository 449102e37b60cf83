import ApusChatProtocol
package import HTTPTypes
import Hummingbird
import NIOCore

extension Accounts {
    /// Returns the session of a connection, from its token or, without a token, from the cookie of
    /// its request.
    ///
    /// A WebSocket handshake is a GET request, which pages of other origins can send with the
    /// cookie. A request with an `Origin` field must therefore have the origin of the server, like
    /// a request that changes data.
    package func session(token: String?, of head: HTTPRequest) async throws -> AccountSession {
        if let token, token != SessionCookies.placeholder { return try await self.session(access: token) }
        var head = head
        head.method = head.headerFields[.origin] == nil ? .get : .post
        let request = Request(head: head, body: .init(buffer: ByteBuffer()))
        guard let token = try SessionCookies.access(of: request) else { throw ChatError.noSession }
        return try await self.session(access: token)
    }
}
