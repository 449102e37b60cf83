package import NIOCore

/// An IP address without port and zone. An IPv4-mapped IPv6 address is the IPv4 address.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    package let bytes: [UInt8]

    private init(bytes: [UInt8]) {
        let isMapped = bytes.count == 16 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
    }

    /// The address of a socket; `nil` for other kinds of sockets.
    package init?(_ address: SocketAddress) {
        // The positions of the address in `sockaddr_in` and `sockaddr_in6`.
        let (offset, count): (Int, Int)
        switch address.protocol {
        case .inet: (offset, count) = (4, 4)
        case .inet6: (offset, count) = (8, 16)
        default: return nil
        }
        let bytes = address.withSockAddr { start, size in
            Array(UnsafeRawBufferPointer(start: start, count: size).dropFirst(offset).prefix(count))
        }
        guard bytes.count == count else { return nil }
        self.init(bytes: bytes)
    }

    /// Parses an address: `192.0.2.7` or `2001:db8::7`.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= 45, !text.contains("%"), let address = try? SocketAddress(ipAddress: String(text), port: 0) else {
            return nil
        }
        self.init(address)
    }

    /// Parses a node of RFC 7239, section 6, without obfuscated names: an address, with brackets
    /// around an IPv6 address, and an optional port. IPv6 addresses without brackets are common in
    /// `X-Forwarded-For`.
    package init?(node: Substring) {
        if node.first == "[" {
            guard let end = node.firstIndex(of: "]") else { return nil }
            let port = node[node.index(after: end)...]
            guard port.isEmpty || Self.isPort(port) else { return nil }
            self.init(node[node.index(after: node.startIndex)..<end])
        } else if let colon = node.firstIndex(of: ":"), node.lastIndex(of: ":") == colon {
            guard Self.isPort(node[colon...]) else { return nil }
            self.init(node[..<colon])
        } else {
            self.init(node)
        }
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && (2...6).contains(text.utf8.count) && text.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    package var description: String {
        guard let address = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: self.bytes), port: 0) else { return "" }
        return address.ipAddress ?? ""
    }

    /// The name under which quotas count the address; see ``ClientAddress``.
    package var quotaKey: String? {
        ClientAddress.key(of: try? SocketAddress(packedIPAddress: ByteBuffer(bytes: self.bytes), port: 0))
    }
}

/// A network in CIDR notation (RFC 4632, section 3.1), or one address.
package struct IPNetwork: Hashable, Sendable {
    private let prefix: [UInt8]
    private let bits: Int

    /// Parses `10.0.0.0/8`, `2001:db8::/32` or an address. Bits behind the prefix are ignored.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else { return nil }
        let width = address.bytes.count * 8
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let bits = Int(parts[1]), bits <= width else { return nil }
            self.bits = bits
        } else {
            self.bits = width
        }
        self.prefix = address.bytes
    }

    /// Whether the address is in the network.
    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == self.prefix.count else { return false }
        let whole = self.bits / 8
        guard address.bytes.prefix(whole) == self.prefix.prefix(whole) else { return false }
        let rest = self.bits % 8
        return rest == 0 || (address.bytes[whole] ^ self.prefix[whole]) >> (8 - rest) == 0
    }
}
