@testable import ApusWebSocket
import NIOCore
import Testing

@Suite struct WebSocketAdmissionTests {
    @Test func theServerFillsUp() {
        var admission = WebSocketAdmission(maximumConnections: 2, maximumConnectionsPerAddress: 10)
        #expect(admission.webSocketOpening(from: "a") == nil)
        #expect(admission.webSocketOpening(from: nil) == nil)
        #expect(admission.webSocketOpening(from: "b") == .full)
        admission.webSocketClosed(from: "a")
        #expect(admission.webSocketOpening(from: "b") == nil)
        #expect(admission.webSocketCount == 2)
    }

    @Test func anAddressFillsUpAndTheOthersDoNot() {
        var admission = WebSocketAdmission(maximumConnections: 10, maximumConnectionsPerAddress: 2)
        #expect(admission.webSocketOpening(from: "a") == nil)
        #expect(admission.webSocketOpening(from: "a") == nil)
        #expect(admission.webSocketOpening(from: "a") == .addressFull)
        #expect(admission.webSocketOpening(from: "b") == nil)
        admission.webSocketClosed(from: "a")
        #expect(admission.webSocketOpening(from: "a") == nil)
    }

    @Test func thoseWithoutAnAddressCountInAllOnly() {
        var admission = WebSocketAdmission(maximumConnections: 3, maximumConnectionsPerAddress: 1)
        for _ in 0..<3 { #expect(admission.webSocketOpening(from: nil) == nil) }
        #expect(admission.webSocketOpening(from: nil) == .full)
    }

    @Test func thereIsALobbyForThoseWhoAreToldWhyNot() {
        var admission = WebSocketAdmission(maximumConnections: 1, maximumConnectionsPerAddress: 1)
        for _ in 0..<(1 + WebSocketAdmission.lobbyPerAddress) { #expect(admission.transportOpened(from: "a") == true) }
        #expect(admission.transportOpened(from: "a") == false)
        for _ in 0..<(WebSocketAdmission.lobby - WebSocketAdmission.lobbyPerAddress) {
            #expect(admission.transportOpened(from: nil) == true)
        }
        #expect(admission.transportOpened(from: nil) == false)
        admission.transportClosed(from: "a")
        #expect(admission.transportOpened(from: "b") == true)
    }

    @Test func anAddressWithNothingLeftIsForgotten() {
        var admission = WebSocketAdmission(maximumConnections: .max, maximumConnectionsPerAddress: .max)
        #expect(admission.transportOpened(from: "a") == true)
        #expect(admission.webSocketOpening(from: "a") == nil)
        admission.transportClosed(from: "a")
        #expect(admission.addressCount == 1)
        admission.webSocketClosed(from: "a")
        #expect(admission.addressCount == 0)
    }

    @Test func nobodyIsLetInWhileTheServerGoesDown() {
        var admission = WebSocketAdmission(maximumConnections: 5, maximumConnectionsPerAddress: 5)
        admission.drain()
        #expect(admission.webSocketOpening(from: "a") == .draining)
        #expect(admission.transportOpened(from: "a") == false)
    }

    @Test(arguments: [
        ("203.0.113.7", "203.0.113.7"), ("2001:db8:1:2:3:4:5:6", "20010db800010002::/64"), ("2001:db8:1:2::9", "20010db800010002::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"), ("127.0.0.1", nil), ("127.9.9.9", nil), ("::1", nil), ("::ffff:127.0.0.1", nil),
    ])
    func keys(address: String, key: String?) throws {
        #expect(WebSocketClientAddress.key(of: try SocketAddress(ipAddress: address, port: 80)) == key)
    }

    @Test func unixSocketsHaveNoKey() throws {
        #expect(WebSocketClientAddress.key(of: try SocketAddress(unixDomainSocketPath: "/tmp/x")) == nil)
        #expect(WebSocketClientAddress.key(of: nil) == nil)
    }
}
