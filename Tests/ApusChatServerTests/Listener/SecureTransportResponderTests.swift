import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOEmbedded
import Testing

@testable import ApusChatServer

/// Redirects and security fields of the responder of a listener.
@Suite struct SecureTransportResponderTests {
    private func answer(
        _ transport: SecureTransport, _ method: HTTPRequest.Method = .get, host: String? = "chat.example:80", path: String? = "/a?b=c"
    ) async throws -> Response {
        let base = CallbackResponder<BasicRequestContext> { _, _ in Response(status: .accepted) }
        let head = HTTPRequest(method: method, scheme: "http", authority: host, path: path)
        let request = Request(head: head, body: RequestBody(buffer: .init()))
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test"))
        return try await SecureTransportResponder(base: base, transport: transport)
            .respond(to: request, context: BasicRequestContext(source: source))
    }

    private func redirects(to port: Int?) -> SecureTransport { .redirects(port: NIOLockedValueBox(port)) }

    @Test func answersAreUnchangedOrHaveThePolicy() async throws {
        #expect(try await self.answer(.unchanged).headers[.strictTransportSecurity] == nil)
        let strict = try await self.answer(.strict)
        #expect(strict.status == .accepted && strict.headers[.strictTransportSecurity] == "max-age=31536000")
    }

    @Test(arguments: [
        (443, "chat.example:80", "/a?b=c", "https://chat.example/a?b=c"), (3443, "chat.example", "/", "https://chat.example:3443/"),
        (3443, "[::1]:3000", "/x", "https://[::1]:3443/x"), (443, "chat.example", "http://evil.example/x", "https://chat.example/"),
        (443, "chat.example", "//evil.example/x", "https://chat.example//evil.example/x"),
    ])
    func pagesAreRedirectedOnTheSameHost(port: Int, host: String, path: String, location: String) async throws {
        for method in [HTTPRequest.Method.get, .head] {
            let answer = try await self.answer(self.redirects(to: port), method, host: host, path: path)
            #expect(answer.status == .permanentRedirect && answer.headers[.location] == location)
            #expect(answer.headers[.cacheControl] == "no-store")
        }
    }

    /// A POST may contain a password, and a client that repeats it over HTTPS would hide the
    /// mistake. The health check is for programs on this machine.
    @Test func otherRequestsAreHandled() async throws {
        for method in [HTTPRequest.Method.post, .delete, .options] {
            #expect(try await self.answer(self.redirects(to: 443), method).status == .accepted)
        }
        #expect(try await self.answer(self.redirects(to: 443), path: "/health").status == .accepted)
    }

    @Test func withoutAHostOrAPortThereIsNoRedirect() async throws {
        #expect(try await self.answer(self.redirects(to: nil)).status == .badRequest)
        for host in [nil, "", "a b", "user@host"] {
            #expect(try await self.answer(self.redirects(to: 443), host: host).status == .badRequest)
        }
    }
}
