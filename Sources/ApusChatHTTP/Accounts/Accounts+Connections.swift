import ApusChatProtocol
package import HTTPTypes
import Hummingbird
import NIOCore

extension Accounts {
    /// Returns the session of a connection: that of its token, else that of the cookie of its
    /// request.
    ///
    /// A WebSocket request is a GET that other origins can send with the cookie. So one with an
    /// `Origin` must have the origin of the server, as a request that changes something.
    package func session(token: String?, of head: HTTPRequest) async throws -> AccountSession {
        if let token, token != SessionCookies.placeholder { return try await self.session(access: token) }
        var head = head
        head.method = head.headerFields[.origin] == nil ? .get : .post
        let request = Request(head: head, body: .init(buffer: ByteBuffer()))
        guard let token = try SessionCookies.access(of: request) else { throw ChatError.noSession }
        return try await self.session(access: token)
    }
}
