import ApusConnectivity
package import NIOCore

/// Under what name a peer is counted.
package enum WebSocketClientAddress {
    /// The key of an address; `nil` for those that are not counted by themselves, the loopback and Unix sockets. There
    /// ``WebSocketServerConfiguration/clientAddress`` tells who the client is.
    package static func key(of address: SocketAddress?) -> String? { ClientAddress.key(of: address) }
}
