@testable import ApusConnectivity
import NIOCore
import Testing

@Suite struct ConnectionQuotaTests {
    @Test func theServerFillsUp() {
        var quota = ConnectionQuota(maximum: 2, maximumPerAddress: 10)
        #expect(quota.opened(from: "a") == nil)
        #expect(quota.opened(from: nil) == nil)
        #expect(quota.opened(from: "b") == .full)
        quota.closed(from: "a")
        #expect(quota.opened(from: "b") == nil)
        #expect(quota.count == 2)
    }

    @Test func aFullAddressDoesNotAffectOthers() {
        var quota = ConnectionQuota(maximum: 10, maximumPerAddress: 2)
        #expect(quota.opened(from: "a") == nil)
        #expect(quota.opened(from: "a") == nil)
        #expect(quota.opened(from: "a") == .addressFull)
        #expect(quota.opened(from: "b") == nil)
        quota.closed(from: "a")
        #expect(quota.opened(from: "a") == nil)
    }

    @Test func connectionsWithoutAnAddressCountInTheTotalOnly() {
        var quota = ConnectionQuota(maximum: 3, maximumPerAddress: 1)
        for _ in 0..<3 { #expect(quota.opened(from: nil) == nil) }
        #expect(quota.opened(from: nil) == .full)
    }

    @Test func channelsMayExceedTheClients() {
        var quota = ConnectionQuota.channels(for: 1, perAddress: 1)
        for _ in 0..<(1 + ConnectionQuota.handshakeAllowancePerAddress) { #expect(quota.opened(from: "a") == nil) }
        #expect(quota.opened(from: "a") == .addressFull)
        for _ in 0..<(ConnectionQuota.lobby - ConnectionQuota.handshakeAllowancePerAddress) { #expect(quota.opened(from: nil) == nil) }
        #expect(quota.opened(from: nil) == .full)
        quota.closed(from: "a")
        #expect(quota.opened(from: "b") == nil)
        #expect(ConnectionQuota.channels(for: .max, perAddress: .max).maximum == .max)
    }

    @Test func anAddressWithoutConnectionsIsRemoved() {
        var quota = ConnectionQuota(maximum: .max, maximumPerAddress: .max)
        #expect(quota.opened(from: "a") == nil)
        #expect(quota.opened(from: "a") == nil)
        quota.closed(from: "a")
        #expect(quota.addressCount == 1)
        quota.closed(from: "a")
        #expect(quota.addressCount == 0 && quota.count == 0)
    }

    @Test func connectionsAreRefusedDuringShutdown() {
        var quota = ConnectionQuota(maximum: 5, maximumPerAddress: 5)
        quota.drain()
        #expect(quota.opened(from: "a") == .draining)
    }

    @Test(arguments: [
        ("203.0.113.7", "203.0.113.7"), ("2001:db8:1:2:3:4:5:6", "20010db800010002::/64"), ("2001:db8:1:2::9", "20010db800010002::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"), ("127.0.0.1", nil), ("127.9.9.9", nil), ("::1", nil), ("::ffff:127.0.0.1", nil),
    ])
    func keys(address: String, key: String?) throws {
        #expect(ClientAddress.key(of: try SocketAddress(ipAddress: address, port: 80)) == key)
    }

    @Test func unixSocketsHaveNoKey() throws {
        #expect(ClientAddress.key(of: try SocketAddress(unixDomainSocketPath: "/tmp/x")) == nil)
        #expect(ClientAddress.key(of: nil) == nil)
    }
}
