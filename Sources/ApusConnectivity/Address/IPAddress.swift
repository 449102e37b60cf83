import ApusBytes
package import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An IP address without port and zone, as 4 or 16 bytes in network order.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// Parses the text of an address; `nil` for any other text, such as a name.
    package init?(_ text: String) {
        guard !text.utf8.contains(0) else { return nil }  // inet_pton stops at a NUL
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 {
                self.bytes = bytes
                return
            }
        }
        return nil
    }

    /// Creates an address of 4 or 16 bytes; `nil` for any other number.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Creates the IP address of a socket address; `nil` for other kinds of sockets.
    package init?(_ address: SocketAddress) {
        // The positions of the address in `sockaddr_in` and `sockaddr_in6`.
        let (offset, count): (Int, Int)
        switch address.protocol {
        case .inet: (offset, count) = (4, 4)
        case .inet6: (offset, count) = (8, 16)
        default: return nil
        }
        self.init(
            bytes: address.withSockAddr { start, size in
                Array(UnsafeRawBufferPointer(start: start, count: size).dropFirst(offset).prefix(count))
            })
    }

    /// Parses a node of RFC 7239 section 6, without obfuscated names: an address, with brackets
    /// around an IPv6 address, and an optional port. IPv6 addresses without brackets are common in
    /// `X-Forwarded-For`.
    package init?(node: Substring) {
        if node.first == "[" {
            guard let end = node.firstIndex(of: "]") else { return nil }
            let port = node[node.index(after: end)...]
            guard port.isEmpty || Self.isPort(port), let address = Self(String(node[node.index(after: node.startIndex)..<end])),
                address.bytes.count == 16
            else { return nil }
            self = address
        } else if let colon = node.firstIndex(of: ":"), node.lastIndex(of: ":") == colon {
            guard Self.isPort(node[colon...]) else { return nil }
            self.init(String(node[..<colon]))
        } else {
            self.init(String(node))
        }
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && (2...6).contains(text.utf8.count) && text.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Whether the address is in 127.0.0.0/8, or ::1, or an IPv4-mapped loopback address.
    package var isLoopback: Bool {
        let address = self.unmapped
        return address.bytes.count == 4 ? address.bytes[0] == 127 : address.bytes == Array(repeating: 0, count: 15) + [1]
    }

    /// The IPv4 address in an IPv4-mapped address, `::ffff:a.b.c.d` (RFC 4291 section 2.5.5.2); the
    /// address itself in other cases.
    package var unmapped: IPAddress {
        guard self.bytes.count == 16, self.bytes.starts(with: Array(repeating: 0, count: 10) + [0xFF, 0xFF]) else { return self }
        return IPAddress(bytes: self.bytes.suffix(4)) ?? self
    }

    /// The canonical text (RFC 5952).
    package var description: String {
        (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: self.bytes), port: 0))?.ipAddress ?? ""
    }

    /// Returns whether a host is a loopback address or `localhost` (RFC 6761 section 6.3).
    static func isLoopback(host: String) -> Bool {
        if let address = IPAddress(host) { return address.isLoopback }
        let name = (host.hasSuffix(".") ? host.dropLast() : host[...]).asciiLowercased
        return name == "localhost" || name.hasSuffix(".localhost")
    }
}

/// A network in CIDR notation (RFC 4632 section 3.1), or one address.
package struct IPNetwork: Hashable, Sendable {
    private let prefix: [UInt8]
    private let length: Int

    /// Parses `10.0.0.0/8`, `2001:db8::/32` or an address; `nil` for any other text. Bits after the
    /// prefix are ignored.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        let width = address.bytes.count * 8
        guard parts.count == 2 else {
            (self.prefix, self.length) = (address.unmapped.bytes, address.unmapped.bytes.count * 8)
            return
        }
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(parts[1]), length <= width else { return nil }
        (self.prefix, self.length) = (address.bytes, length)
    }

    /// Returns whether the address is in the network.
    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == self.prefix.count else { return false }
        let (whole, bits) = self.length.quotientAndRemainder(dividingBy: 8)
        guard address.bytes.prefix(whole) == self.prefix.prefix(whole) else { return false }
        return bits == 0 || (address.bytes[whole] ^ self.prefix[whole]) >> UInt8(8 - bits) == 0
    }
}
