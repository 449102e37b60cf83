import Testing

@testable import apus

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("9000", ListenAddress.tcp(host: "127.0.0.1", port: 9000)),
        (":0", .tcp(host: "127.0.0.1", port: 0)),
        ("0.0.0.0:80", .tcp(host: "0.0.0.0", port: 80)),
        ("localhost:8080", .tcp(host: "localhost", port: 8080)),
        ("[::1]:8080", .tcp(host: "::1", port: 8080)),
        ("unix:/tmp/echo", .unix(path: "/tmp/echo")),
    ])
    func addresses(text: String, address: ListenAddress) {
        #expect(ListenAddress(argument: text) == address)
    }

    @Test(arguments: [
        ("127.0.0.1:0", true), ("127.8.9.10:0", true), ("[::1]:0", true), ("[::ffff:127.0.0.1]:0", true), ("localhost:0", true),
        ("unix:/tmp/x", true), ("0.0.0.0:0", false), ("[::]:0", false), ("10.0.0.5:0", false), ("[fe80::1]:0", false),
        ("[::ffff:10.0.0.5]:0", false), ("128.0.0.1:0", false),
    ])
    func loopbackAddressesAreRecognized(text: String, isLoopback: Bool) throws {
        #expect(try #require(ListenAddress(argument: text)).resolved().isLoopback == isLoopback)
    }

    @Test(arguments: ["", "localhost", "::1:80", "host:65536", "host:-1", "host:", "unix:", "[::1]"])
    func invalidAddresses(text: String) {
        #expect(ListenAddress(argument: text) == nil)
    }
}
