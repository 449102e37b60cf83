import ApusConnectivity
import Testing

@testable import ApusChatServer

@Suite struct ProxyProtocolHeaderTests {
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    private func read(_ text: String) -> ProxyProtocolHeader.Reading { ProxyProtocolHeader.read(Array(text.utf8)) }

    private func isInvalid(_ reading: ProxyProtocolHeader.Reading) -> Bool { if case .invalid = reading { true } else { false } }

    private func binary(_ command: UInt8, _ family: UInt8, _ rest: [UInt8], length: Int? = nil) -> [UInt8] {
        let length = length ?? rest.count
        return Self.signature + [command, family, UInt8(length >> 8), UInt8(length & 0xFF)] + rest
    }

    // MARK: Version 1

    @Test(arguments: [
        ("PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n", "192.0.2.1"),
        ("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255"),
        ("PROXY TCP6 2001:db8::1 2001:db8::2 0 443\r\n", "2001:db8::1"), ("PROXY UNKNOWN\r\n", nil),
        ("PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n", nil),
    ])
    func aTextHeader(text: String, client: String?) {
        let expected = ProxyProtocolHeader(client: client.flatMap { IPAddress($0) })
        #expect(self.read(text) == .header(expected, length: text.utf8.count))
        #expect(self.read(text + "GET / HTTP/1.1\r\n") == .header(expected, length: text.utf8.count))
        for count in 0..<text.utf8.count { #expect(ProxyProtocolHeader.read(Array(text.utf8.prefix(count))) == .incomplete) }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n", "PROXX", "proxy TCP4 192.0.2.1 192.0.2.2 1 2\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 1\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 1 65536\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 01 2\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.2 -1 2\r\n", "PROXY TCP4  192.0.2.1 192.0.2.2 1 2\r\n", "PROXY TCP4 2001:db8::1 192.0.2.2 1 2\r\n",
        "PROXY TCP6 192.0.2.1 192.0.2.2 1 2\r\n", "PROXY TCP4 256.0.2.1 192.0.2.2 1 2\r\n", "PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n",
        "PROXY \r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2 3\r\n", "PROXY UNKNOWN" + String(repeating: "x", count: 100),
    ])
    func notATextHeader(text: String) { #expect(self.isInvalid(self.read(text))) }

    // MARK: Version 2

    private static let addresses4: [UInt8] = [192, 0, 2, 1, 192, 0, 2, 2, 0xDC, 0x04, 0x01, 0xBB]
    private static let addresses6: [UInt8] =
        [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1] + [UInt8](repeating: 0, count: 20)

    @Test func aBinaryHeader() {
        let four = self.binary(0x21, 0x11, Self.addresses4)
        #expect(ProxyProtocolHeader.read(four) == .header(ProxyProtocolHeader(client: IPAddress("192.0.2.1")), length: 28))
        let six = self.binary(0x21, 0x21, Self.addresses6)
        #expect(ProxyProtocolHeader.read(six) == .header(ProxyProtocolHeader(client: IPAddress("2001:db8::1")), length: 52))
        for count in 0..<four.count { #expect(ProxyProtocolHeader.read(four.prefix(count)) == .incomplete) }
    }

    @Test func extensionsFollowTheAddresses() {
        let bytes = self.binary(0x21, 0x11, Self.addresses4 + [0x04, 0x00, 0x01, 0x00])
        #expect(ProxyProtocolHeader.read(bytes + [0x16]) == .header(ProxyProtocolHeader(client: IPAddress("192.0.2.1")), length: 32))
    }

    @Test func aConnectionOfTheProxyItselfHasNoClient() {
        let none = ProxyProtocolHeader(client: nil)
        #expect(ProxyProtocolHeader.read(self.binary(0x20, 0x11, Self.addresses4)) == .header(none, length: 28))
        #expect(ProxyProtocolHeader.read(self.binary(0x20, 0x00, [])) == .header(none, length: 16))
        #expect(ProxyProtocolHeader.read(self.binary(0x21, 0x00, [1, 2, 3])) == .header(none, length: 19))
        #expect(ProxyProtocolHeader.read(self.binary(0x21, 0x31, [UInt8](repeating: 0, count: 216))) == .header(none, length: 232))
    }

    @Test func notABinaryHeader() {
        for bytes in [
            self.binary(0x11, 0x11, Self.addresses4), self.binary(0x22, 0x11, Self.addresses4), self.binary(0x21, 0x12, Self.addresses4),
            self.binary(0x21, 0x41, Self.addresses4), self.binary(0x21, 0x11, Array(Self.addresses4.dropLast())),
            self.binary(0x21, 0x21, Self.addresses4), self.binary(0x21, 0x11, [], length: 4_097),
            self.binary(0x21, 0x11, [], length: 65_535),
        ] {
            #expect(self.isInvalid(ProxyProtocolHeader.read(bytes)))
        }
    }
}
