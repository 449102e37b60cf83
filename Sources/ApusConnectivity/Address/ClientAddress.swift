package import NIOCore

/// Computes the key with which a quota counts the connections of a peer.
package enum ClientAddress {
    /// Returns the key of an address; `nil` for addresses that are not counted separately.
    ///
    /// - The key of an IPv6 address is its /64 network, which usually belongs to one subscriber.
    /// - Loopback addresses and Unix sockets have no key, because all clients behind a reverse
    ///   proxy on this machine would share it.
    package static func key(of address: SocketAddress?) -> String? { address.flatMap(IPAddress.init).flatMap { self.key(of: $0) } }

    /// Returns the key of an IP address; `nil` for a loopback address.
    package static func key(of address: IPAddress) -> String? {
        guard !address.isLoopback else { return nil }
        let address = address.unmapped
        guard address.bytes.count == 16 else { return address.description }
        return String(address.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }, radix: 16) + "::/64"
    }
}
