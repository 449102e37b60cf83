import Testing

@testable import ApusChatServer

@Suite struct SecureTransportTests {
    private func isStrict(port: Int, tlsPort: Int, listensWithoutTLS: Bool = true) -> Bool {
        var configuration = ChatServerConfiguration(port: port)
        configuration.listensWithoutTLS = listensWithoutTLS
        return configuration.isStrict(tlsPort: tlsPort)
    }

    /// RFC 6797 8.3: a browser keeps every port but 80, which becomes 443.
    @Test func HTTPSIsRequiredOnlyIfTheRedirectRemainsReachable() {
        #expect(self.isStrict(port: 80, tlsPort: 443))
        #expect(!self.isStrict(port: 3000, tlsPort: 3443))
        #expect(!self.isStrict(port: 80, tlsPort: 3443))
        #expect(!self.isStrict(port: 3000, tlsPort: 443))
        #expect(self.isStrict(port: 3000, tlsPort: 3443, listensWithoutTLS: false))
    }

    @Test(arguments: [
        ("localhost:3000", "localhost"), ("localhost", "localhost"), ("10.0.0.1:80", "10.0.0.1"), ("[::1]:3000", "[::1]"),
        ("[::1]", "[::1]"),
        ("", nil), (nil, nil), ("[::1", nil), ("a/b", nil), ("a b", nil), ("<a>", nil), ("user@host", nil), (":80", nil),
    ])
    func theHostOfARedirect(authority: String?, host: String?) {
        #expect(SecureTransport.host(of: authority).map(String.init) == host)
    }
}
