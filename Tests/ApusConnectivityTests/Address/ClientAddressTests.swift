import ApusConnectivity
import NIOCore
import Testing

@Suite struct ClientAddressTests {
    @Test(
        arguments: [
            ("203.0.113.7", "203.0.113.7"), ("127.0.0.1", nil), ("127.8.8.8", nil), ("2001:db8:1:2:3:4:5:6", "20010db800010002::/64"),
            ("2001:db8:1:2::1", "20010db800010002::/64"), ("::1", nil), ("::ffff:203.0.113.7", "203.0.113.7"), ("::ffff:127.0.0.1", nil),
        ] as [(String, String?)])
    func keys(address: String, key: String?) throws {
        #expect(ClientAddress.key(of: try SocketAddress(ipAddress: address, port: 80)) == key)
    }

    @Test func unixSocketsAreNotCounted() throws {
        #expect(ClientAddress.key(of: try SocketAddress(unixDomainSocketPath: "/tmp/x")) == nil)
        #expect(ClientAddress.key(of: nil) == nil)
    }
}
