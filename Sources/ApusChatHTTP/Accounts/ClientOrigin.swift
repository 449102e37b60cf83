package import ApusChatCore
package import ApusConnectivity

/// The address of a client, as budgets count it.
package struct ClientOrigin: Sendable, Hashable {
    /// The owners of the budgets of the address.
    package let keys: [RateKey]
    /// The address as text, for the list of sessions.
    package let text: String
    /// The number under which queues take turns.
    let queue: Int64

    /// - Parameter address: Nil for a connection without an IP address.
    package init(_ address: IPAddress?) {
        guard let address = address?.unmapped, !address.isLoopback else {
            // Programs of this machine, and clients of a proxy that is not trusted, cannot be told
            // apart. They share the budget of a block, not that of an address.
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
