package import NIOCore

/// The key under which a quota counts the connections of a peer.
package enum ClientAddress {
    /// Returns the key of an address; `nil` for addresses that are not counted separately.
    ///
    /// - An IPv6 address is counted by its /64 network, all of which usually belongs to one
    ///   subscriber.
    /// - Loopback addresses and Unix sockets are not counted: behind a reverse proxy all clients
    ///   would share one key.
    package static func key(of address: SocketAddress?) -> String? { address.flatMap(IPAddress.init).flatMap { self.key(of: $0) } }

    /// Returns the key of an IP address; `nil` for a loopback address.
    package static func key(of address: IPAddress) -> String? {
        guard !address.isLoopback else { return nil }
        let address = address.unmapped
        guard address.bytes.count == 16 else { return address.description }
        return String(address.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }, radix: 16) + "::/64"
    }
}
