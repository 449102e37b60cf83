import NIOCore
import NIOPosix
import Testing

@testable import ApusConnectivity

@Suite struct AddressRulesTests {
    @Test(
        arguments: [
            "127.0.0.1", "0.0.0.0", "10.1.2.3", "100.64.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.0.0.8",
            "198.18.0.1", "203.0.113.1", "224.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "fe80::1",
            "fc00::1", "fd12:3456::1", "ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1", "2001:db8::1", "::127.0.0.1",
        ])
    func addressesThatAreNotPublicAreRefused(text: String) throws {
        #expect(!AddressRules().permit(try #require(IPAddress(text))))
    }

    @Test(arguments: ["1.1.1.1", "172.32.0.1", "100.128.0.1", "::ffff:8.8.8.8", "2606:4700::1111", "2a00:1450::1"])
    func publicAddressesArePermitted(text: String) throws { #expect(AddressRules().permit(try #require(IPAddress(text)))) }

    @Test func exceptionsArePermitted() throws {
        let rules = AddressRules(exceptions: ["127.0.0.0/8", "::1"].compactMap { IPNetwork($0) })
        for (text, isPermitted) in [("127.0.0.9", true), ("::ffff:127.0.0.9", true), ("::1", true), ("10.0.0.1", false)] {
            #expect(rules.permit(try #require(IPAddress(text))) == isPermitted)
        }
    }

    /// A name whose addresses are partly private: only the others are dialed.
    @Test func aResolverReturnsPermittedAddressesOnly() async throws {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        let resolver = CheckedResolver(AddressRules(), on: eventLoop) { _, port in
            try ["10.0.0.1", "1.1.1.1", "::1", "2606:4700::1111"].map { try SocketAddress(ipAddress: $0, port: port) }
        }
        let found = try await resolver.initiateAQuery(host: "example.org", port: 443).get()
        #expect(found.compactMap(\.ipAddress) == ["1.1.1.1", "2606:4700::1111"])
        #expect(try await resolver.initiateAAAAQuery(host: "example.org", port: 443).get().isEmpty)
    }

    @Test(arguments: ["127.0.0.1", "localhost", "::1", "2130706433", "0x7f000001", "127.1"])
    func aDialerDoesNotReachAPrivateAddress(host: String) async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        await #expect(throws: ConnectivityError.self) {
            try await eventLoop.flatSubmit {
                var dialer = Dialer()
                dialer.resolver = CheckedResolver(AddressRules(), on: eventLoop)
                return dialer.dial(.host(host, port: port), on: eventLoop).futureResult.map { $0.close(promise: nil) }
            }.get()
        }
        try await server.close()
    }
}
