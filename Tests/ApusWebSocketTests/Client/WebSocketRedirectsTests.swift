@testable import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import Testing

@Suite struct WebSocketRedirectsTests {
    private func refusal(_ location: String?, status: Int = 302) -> WebSocketError {
        var fields = HTTPFields()
        fields[.location] = location
        return WebSocketError(.connectionRefused, message: "", refusal: .init(status: status, headers: fields, body: []))
    }

    @Test(arguments: [
        ("/x", "ws://a.test:8080/x"),
        ("x?y=1#z", "ws://a.test:8080/b/x?y=1"),
        ("../../x/./y/..", "ws://a.test:8080/x/"),
        ("?y=2", "ws://a.test:8080/b/c?y=2"),
        ("", "ws://a.test:8080/b/c?d=/e"),
        ("//b.test/x", "ws://b.test/x"),
        ("https://b.test:444", "wss://b.test:444/"),
        ("/x:y", "ws://a.test:8080/x:y"),
    ])
    func aReferenceIsResolved(location: String, expected: String) throws {
        let base = try WebSocketURL("ws://a.test:8080/b/c?d=/e")
        #expect(try WebSocketRedirects.resolve(location, against: base).description == expected)
    }

    @Test func theWayBackIsNotTheSameOrigin() throws {
        var redirects = WebSocketRedirects(url: try WebSocketURL("ws://a.test/"), maximum: 5)
        #expect(redirects.refused(self.refusal("/x")) == .follow)
        #expect(redirects.isSameOrigin)
        #expect(redirects.refused(self.refusal("ws://A.test:80/y")) == .follow)
        #expect(redirects.isSameOrigin)
        #expect(redirects.refused(self.refusal("wss://a.test/")) == .follow)
        #expect(!redirects.isSameOrigin)
        #expect(redirects.refused(self.refusal("wss://a.test/", status: 307)) == .follow)
        #expect(!redirects.isSameOrigin)
    }

    @Test(arguments: ["ws://a.test/", "http://a.test/", "mailto:x", "/\u{e9}", "//", "wss://user@a.test/"])
    func unsafeRedirectsAreNotFollowed(location: String) throws {
        var redirects = WebSocketRedirects(url: try WebSocketURL("wss://a.test/"), maximum: 5)
        guard case .fail(let error) = redirects.refused(self.refusal(location)) else {
            Issue.record("followed")
            return
        }
        #expect(error.code == .connectionRefused)
        #expect(error.refusal?.status == 302)
    }

    @Test func anotherStatusOrNoLocationIsTheRefusalItself() throws {
        var redirects = WebSocketRedirects(url: try WebSocketURL("wss://a.test/"), maximum: 5)
        #expect(redirects.refused(self.refusal(nil)) == .fail(self.refusal(nil)))
        #expect(redirects.refused(self.refusal("/x", status: 304)) == .fail(self.refusal("/x", status: 304)))
        #expect(redirects.refused(WebSocketError(.timeout, message: "")) == .fail(WebSocketError(.timeout, message: "")))
        redirects = WebSocketRedirects(url: try WebSocketURL("wss://a.test/"), maximum: 0)
        #expect(redirects.refused(self.refusal("/x")) != .follow)
    }
}
