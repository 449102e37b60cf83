package import NIOCore

/// The key under which a quota counts the connections of a peer.
package enum ClientAddress {
    /// Returns the key of an address; `nil` for addresses that are not counted separately.
    ///
    /// - An IPv6 address is counted by its /64 network, all of which usually belongs to one
    ///   subscriber.
    /// - Loopback addresses and Unix sockets are not counted: behind a reverse proxy all clients
    ///   would share one key.
    package static func key(of address: SocketAddress?) -> String? {
        guard let address else { return nil }
        switch address.protocol {
        case .inet:
            return Self.withBytes(of: address) { Self.key(ofIPv4: UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self))) }
        case .inet6: return Self.withBytes(of: address) { Self.key(ofIPv6: UnsafeRawBufferPointer(rebasing: $0.dropFirst(8))) }
        default: return nil
        }
    }

    /// Calls `body` with the bytes of the system's socket address. Family and port take four bytes,
    /// and the IPv6 flow label four more.
    private static func withBytes(of address: SocketAddress, _ body: (UnsafeRawBufferPointer) -> String?) -> String? {
        address.withSockAddr { start, size in
            guard size >= 8 else { return nil }
            return body(UnsafeRawBufferPointer(start: start, count: size))
        }
    }

    private static func key(ofIPv4 number: UInt32) -> String? {
        number >> 24 == 127 ? nil : "\(number >> 24).\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
    }

    private static func key(ofIPv6 bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count >= 16 else { return nil }
        let prefix = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        let suffix = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        // ::ffff:a.b.c.d, an IPv4 peer of a dual-stack socket.
        if prefix == 0, suffix >> 32 == 0xFFFF {
            return Self.key(ofIPv4: UInt32(truncatingIfNeeded: suffix))
        }
        if prefix == 0, suffix == 1 { return nil }
        return String(prefix, radix: 16) + "::/64"
    }
}
