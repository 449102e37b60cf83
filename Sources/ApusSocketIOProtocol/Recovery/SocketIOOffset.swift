/// A position in the history of a namespace, after packet `number`.
///
/// Source: Socket.IO, "Connection state recovery": a client returns the last argument of the last
/// event it received.
package struct SocketIOOffset: Hashable, Sendable, CustomStringConvertible {
    /// The name of the history. Another server, and the same server after a restart, use another
    /// name.
    package let epoch: String
    /// The number of the last packet before this position. Packets count from 1.
    package let number: UInt64

    package init(epoch: String, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// Parses the wire format. Returns `nil` for text that no history produces.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[1].allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let number = UInt64(Substring(parts[1]), radix: 36)
        else { return nil }
        self.init(epoch: String(Substring(parts[0])), number: number)
    }

    /// The wire format, such as `k3x9Qz.1f`. It is short because every event of a server with
    /// recovery contains an offset.
    package var description: String { Self.mark(of: self.epoch) + String(self.number, radix: 36) }

    /// Returns the prefix on the wire of every offset of a history.
    package static func mark(of epoch: String) -> String { epoch + "." }
}
