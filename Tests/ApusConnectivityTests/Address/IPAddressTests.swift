import NIOCore
import Testing

@testable import ApusConnectivity

@Suite("IP addresses")
struct IPAddressTests {
    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7"), ("192.0.2.7:80", "192.0.2.7"), ("[2001:db8::7]:4711", "2001:db8::7"),
        ("[2001:DB8:0::7]", "2001:db8::7"),
        ("2001:db8::7", "2001:db8::7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("[::ffff:192.0.2.7]:1", "192.0.2.7"),
    ])
    func nodesAreAddresses(node: String, address: String) {
        #expect(IPAddress(node: node[...])?.unmapped.description == address)
    }

    @Test(arguments: [
        "", "unknown", "_hidden", "192.0.2", "192.0.2.256", "192.0.2.7:", "192.0.2.7:abc", "192.0.2.7:1234567", "[192.0.2.7", "[]",
        "[::1]x",
        "[::1]:", "fe80::1%eth0", "192.0.2.7, 1", "example.com", ":80", String(repeating: "1", count: 5_000),
    ])
    func otherNodesAreNil(node: String) {
        #expect(IPAddress(node: node[...]) == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.128/25", "192.0.2.127", false),
        ("192.0.2.128/25", "192.0.2.128", true), ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.6", false),
        ("0.0.0.0/0", "203.0.113.1", true), ("0.0.0.0/0", "2001:db8::1", false), ("2001:db8::/32", "2001:db8:ffff::1", true),
        ("2001:db8::/33", "2001:db8:8000::1", false), ("10.0.0.0/8", "::ffff:10.1.1.1", true),
    ])
    func networksContainTheirAddresses(network: String, address: String, isIn: Bool) throws {
        let address = try #require(IPAddress(address))
        #expect(try #require(IPNetwork(network)).contains(address.unmapped) == isIn)
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "2001:db8::/129", "localhost",
        "10.0.0.0/99999999999999999999",
    ])
    func otherTextIsNotANetwork(text: String) {
        #expect(IPNetwork(text) == nil)
    }

    @Test func onlyIPSocketsHaveAnAddress() throws {
        #expect(try IPAddress(SocketAddress(ipAddress: "2001:db8::7", port: 80)) == IPAddress("2001:db8::7"))
        #expect(try IPAddress(SocketAddress(unixDomainSocketPath: "/tmp/x")) == nil)
    }
}
