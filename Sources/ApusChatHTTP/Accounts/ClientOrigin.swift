package import ApusChatCore
package import ApusConnectivity

/// The network address of a client, and the budgets to which it is charged.
package struct ClientOrigin: Sendable, Hashable {
    /// The owners of the budgets: the address and its block. If the address is a loopback address
    /// or is not known, only a block.
    package let keys: [RateKey]
    /// The address as text, which the list of sessions shows.
    package let text: String
    /// The number by which fair queues group the requests of an address.
    let queue: Int64

    /// - Parameter address: The address; nil for a connection without an IP address.
    package init(_ address: IPAddress?) {
        guard let address = address?.unmapped, !address.isLoopback else {
            // Programs on this machine and the clients of an untrusted proxy on it have the same
            // address. They are charged to the larger budget of a block.
            (self.keys, self.text, self.queue) = ([.block(0)], address?.description ?? "", 0)
            return
        }
        let bytes = address.bytes
        let (own, block): (UInt64, UInt64)
        if bytes.count == 4 {
            own = 0xFFFF << 32 | Self.number(bytes[...])
            block = 0xFFFF << 32 | Self.number(bytes.prefix(3)) << 8
        } else {
            own = Self.number(bytes.prefix(8))
            block = Self.number(bytes.prefix(6)) << 16
        }
        self.keys = [.address(own), .block(block)]
        self.text = address.description
        self.queue = Int64(bitPattern: own)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
