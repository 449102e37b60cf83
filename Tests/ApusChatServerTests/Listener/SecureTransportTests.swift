import Testing

@testable import ApusChatServer

@Suite struct SecureTransportTests {
    /// RFC 6797, section 8.3: a browser changes port 80 to 443 and keeps all others.
    @Test(arguments: [
        (80, 443, true, true), (3000, 3443, true, false), (80, 3443, true, false), (3000, 443, true, false), (3000, 3443, false, true),
    ])
    func HTTPSIsRequiredOnlyIfTheRedirectRemainsReachable(port: Int, tlsPort: Int, listensWithoutTLS: Bool, isStrict: Bool) {
        var configuration = ChatServerConfiguration(port: port)
        configuration.listensWithoutTLS = listensWithoutTLS
        #expect(configuration.isStrict(tlsPort: tlsPort) == isStrict)
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
