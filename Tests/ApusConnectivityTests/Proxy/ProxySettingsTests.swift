import Testing

@testable import ApusConnectivity

@Suite struct ProxySettingsTests {
    private func proxy(_ kind: ProxySettings.Proxy.Kind, _ host: String, _ port: Int, _ user: String? = nil, _ password: String = "")
        -> ProxySettings.Proxy
    {
        .init(kind: kind, host: host, port: port, credentials: user.map { .init(username: $0, password: password) })
    }

    @Test func aURLIsParsed() throws {
        #expect(try ProxySettings.Proxy(url: "http://proxy.example:3128") == self.proxy(.httpConnect, "proxy.example", 3128))
        #expect(try ProxySettings.Proxy(url: "proxy.example") == self.proxy(.httpConnect, "proxy.example", 80))
        #expect(try ProxySettings.Proxy(url: "proxy.example:8080/") == self.proxy(.httpConnect, "proxy.example", 8080))
        #expect(try ProxySettings.Proxy(url: "SOCKS5://[::1]") == self.proxy(.socks5, "::1", 1080))
        #expect(
            try ProxySettings.Proxy(url: "socks5h://al%40ice:p%3A%20w:d@h:1") == self.proxy(.socks5, "h", 1, "al@ice", "p: w:d"))
        #expect(try ProxySettings.Proxy(url: "http://user@h:1") == self.proxy(.httpConnect, "h", 1, "user"))
    }

    @Test(arguments: [
        "", "http://", "https://proxy:1", "ftp://proxy", "http://h:0", "http://h:65536", "http://h:x", "http://h:+1", "http://h:",
        "http://[::1",
        "http://h/x",
        "http://a b", "http://h\r\n", "http://%zz@h", "http://%4@h", "http://\u{00E9}", "http://@", "http://[::1]x",
    ])
    func aBadURLIsRefusedWithoutShowingIt(url: String) {
        let error = #expect(throws: ConnectivityError.self) { try ProxySettings(url: url) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("@") == false)
    }

    @Test func noPasswordIsPrinted() throws {
        let settings = try ProxySettings(url: "http://alice:secret@h:1")
        #expect("\(settings)" == "http://alice:…@h:1")
    }

    // MARK: The environment

    private func chosen(_ variables: [String: String], _ host: String = "example.com", port: Int = 443, isSecure: Bool = true) throws
        -> String?
    {
        try ProxySettings.environment.proxy(forHost: host, port: port, isSecure: isSecure, environment: variables)
            .map { "\($0.kind == .socks5 ? "socks5" : "http")://\($0.host):\($0.port)" }
    }

    @Test func theSchemeChoosesTheVariable() throws {
        let all = ["https_proxy": "http://s:1", "HTTPS_PROXY": "http://S:1", "http_proxy": "http://p:1", "ALL_PROXY": "socks5://a"]
        #expect(try self.chosen(all) == "http://s:1")
        #expect(try self.chosen(all, isSecure: false) == "http://p:1")
        #expect(try self.chosen(["HTTPS_PROXY": "http://S:1", "all_proxy": "x:1"]) == "http://S:1")
        #expect(try self.chosen(["https_proxy": "", "ALL_PROXY": "socks5://a"]) == "socks5://a:1080")
        #expect(try self.chosen(["http_proxy": "p:1"]) == nil)
        #expect(try self.chosen([:]) == nil)
    }

    @Test func aRequestCannotSetTheProxyOfACGIProcess() throws {
        #expect(try self.chosen(["HTTP_PROXY": "p:1"], isSecure: false) == "http://p:1")
        #expect(try self.chosen(["HTTP_PROXY": "p:1", "REQUEST_METHOD": "GET"], isSecure: false) == nil)
    }

    @Test func aMalformedVariableIsAnErrorAndNotADirectConnection() {
        #expect(throws: ConnectivityError.self) { try self.chosen(["https_proxy": "https://p:1"]) }
    }

    @Test func otherChoicesDoNotLookAtTheEnvironment() throws {
        let all = ["ALL_PROXY": "a:1"]
        #expect(try ProxySettings.none.proxy(forHost: "h", port: 1, isSecure: true, environment: all) == nil)
        let own = ProxySettings.socks5(host: "own", port: 9)
        #expect(try own.proxy(forHost: "localhost", port: 1, isSecure: true, environment: all)?.host == "own")
    }

    @Test(arguments: [
        ("example.com", "example.com", true), ("example.com", "www.Example.com", true), ("example.com", "badexample.com", false),
        (".example.com", "a.b.example.com", true), (".example.com", "example.com", true), ("*.example.com", "a.example.com", true),
        ("*.example.com", "example.com", false), ("*", "anything", true), ("a, b\tc,,", "c", true), ("example.com.", "example.com", true),
        ("example.com", "example.com.", true), ("example.com:443", "example.com", true), ("example.com:80", "example.com", false),
        ("10.0.0.0/8", "10.9.8.7", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/8", "ten.example", false),
        ("192.168.1.128/25", "192.168.1.127", false), ("192.168.1.128/25", "192.168.1.200", true), ("10.0.0.1", "10.0.0.1", true),
        ("0.0.1", "10.0.0.1", false), ("10.0.0.0/33", "10.0.0.0", false), ("10.0.0.0/-1", "10.0.0.0", false),
        ("0.0.0.0/0", "1.2.3.4", true),
        ("2001:db8::/32", "2001:db8::1", true), ("[2001:db8::1]:443", "2001:db8:0::1", true), ("::/0", "1.2.3.4", false), (".", "x", false),
        ("", "x", false), ("[", "x", false), ("com", "example.com", true), ("example", "example.com", false),
        ("wor\u{212A}ers.dev", "workers.dev", false), ("WORKERS.dev", "a.workers.DEV", true), ("K", "\u{212A}", false),
    ])
    func noProxyNamesTheServer(list: String, host: String, isExcluded: Bool) throws {
        #expect(ProxyEnvironment(["NO_PROXY": list]).excludes(host: host, port: 443) == isExcluded)
    }

    @Test(arguments: ["localhost", "LOCALHOST.", "app.localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
    func thisMachineIsNeverReachedThroughAProxy(host: String) throws {
        #expect(try self.chosen(["ALL_PROXY": "a:1"], host) == nil)
        #expect(try self.chosen(["ALL_PROXY": "a:1"], "localhost.example") == "http://a:1")
        #expect(try self.chosen(["ALL_PROXY": "a:1"], "128.0.0.1") == "http://a:1")
    }
}
