import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import Testing

@Suite struct WebSocketRequestHeadTests {
    private static let lines = ["GET /x?a=%20b HTTP/1.1", "Host: a.example:80", "Upgrade: WebSocket", "Connection: keep-alive, Upgrade"]

    private func request(_ text: String, isSecure: Bool = false, _ limit: (inout WebSocketLimits) -> Void = { _ in }) -> HTTPRequest? {
        var limits = WebSocketLimits()
        limit(&limits)
        return WebSocketRequestHead.request(in: ByteBuffer(string: text), isSecure: isSecure, limits: limits)
    }

    /// Returns a valid request with additional lines in wire format.
    private func head(_ more: String = "", lines: [String] = Self.lines) -> String {
        lines.map { $0 + "\r\n" }.joined() + more + "\r\n"
    }

    @Test func aPlainRequestIsParsed() throws {
        let request = try #require(self.request(self.head("X-Y:z  z\r\nx-y: 2\r\n")))
        #expect(request.method == .get)
        #expect(request.scheme == "http")
        #expect(request.authority == "a.example:80")
        #expect(request.path == "/x?a=%20b")
        #expect(request.headerFields.map { $0.name.rawName } == ["Upgrade", "Connection", "X-Y", "x-y"])
        #expect(request.headerFields.map(\.value) == ["WebSocket", "keep-alive, Upgrade", "z  z", "2"])
        #expect(self.request(self.head(), isSecure: true)?.scheme == "https")
    }

    @Test func onlyACompleteHeadIsConsumed() {
        let head = self.head()
        for length in 0..<head.utf8.count { #expect(self.request(String(decoding: head.utf8.prefix(length), as: UTF8.self)) == nil) }
        for more in ["x", "\r\n", "GET / HTTP/1.1\r\n\r\n", "\u{1}"] { #expect(self.request(head + more) == nil) }
    }

    @Test(arguments: [
        "POST /x HTTP/1.1", "get /x HTTP/1.1", "GET  /x HTTP/1.1", "GET /x  HTTP/1.1", "GET /x HTTP/1.0", "GET /x HTTP/1.1 ",
        "GET /x HTTP/2",
        "GET http://a.example/x HTTP/1.1", "GET * HTTP/1.1", "GET x HTTP/1.1", "GET  HTTP/1.1", "GET /ä HTTP/1.1", "GET /a\tb HTTP/1.1",
        "GET /a#b HTTP/1.1", "GET /a\"b HTTP/1.1", "GET /a|b HTTP/1.1", "GET /\u{7F} HTTP/1.1", "GET /x\0 HTTP/1.1", " GET /x HTTP/1.1",
        "\r\nGET /x HTTP/1.1", "GET /x\r HTTP/1.1", "GET /x HTTP/1.1\n",
    ])
    func requestLinesThatAreLeft(line: String) {
        #expect(self.request(self.head(lines: [line] + Self.lines.dropFirst())) == nil)
    }

    @Test(arguments: [
        // Ambiguous framing or host (docs/hazards.md, 8).
        "Content-Length: 0\r\n", "content-length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-encoding:identity\r\n",
        "Host: b.example\r\n", "host: a.example:80\r\n", "Upgrade: h2c\r\n",
        // Names.
        "X : y\r\n", " X: y\r\n", "\tX: y\r\n", ": y\r\n", "X\r\n", "X(: y\r\n", "X\0: y\r\n", "Ä: y\r\n",
        // Values: empty, surrounding blanks, continued lines, non-printable characters.
        "X:\r\n", "X: \r\n", "X:  y\r\n", "X: y \r\n", "X: y\t\r\n", "X:\ty\r\n", "X: a\tb\r\n", "X: a\r\n b\r\n", "X: a\0b\r\n",
        "X: ä\r\n",
        "X: a\u{7F}\r\n",
        // Ends of lines.
        "X: y\n", "X: y\r", "X: y\r\r\n", "X: a\rb\r\n", "X: a\nb\r\n", "\n", "\r",
    ])
    func fieldsThatAreLeft(line: String) {
        #expect(self.request(self.head(line)) == nil)
    }

    @Test(arguments: ["Host", "Upgrade"])
    func aMissingFieldIsRefused(name: String) {
        #expect(self.request(self.head(lines: Self.lines.filter { !$0.hasPrefix(name) })) == nil)
    }

    @Test(arguments: ["h2c", "websocket, h2c", "websockets", "websocke", "xwebsocket"])
    func otherUpgradesAreLeft(value: String) {
        #expect(self.request(self.head(lines: Self.lines.map { $0.hasPrefix("Upgrade") ? "Upgrade: \(value)" : $0 })) == nil)
    }

    @Test func limits() {
        let head = self.head("X: \(String(repeating: "y", count: 200))\r\n")
        #expect(self.request(head) { $0.maximumHeaderFields = 4 } != nil)
        #expect(self.request(head) { $0.maximumHeaderFields = 3 } == nil)
        #expect(self.request(head) { $0.maximumHeaderBytes = head.utf8.count } != nil)
        #expect(self.request(head) { $0.maximumHeaderBytes = head.utf8.count - 1 } == nil)
        #expect(self.request(self.head("X: \(String(repeating: "y", count: WebSocketRequestHead.maximumBytes))\r\n")) == nil)
        #expect(self.request(self.head(String(repeating: "X: y\r\n", count: 98))) == nil)
    }
}
