/// A place in the history of a namespace: everything up to and including packet `number` is behind it.
///
/// Source: Socket.IO, "Connection state recovery": a client returns the last argument of the last event it got.
package struct SocketIOOffset: Hashable, Sendable, CustomStringConvertible {
    /// Names the history, so that an offset of another server, or of this one before its restart, is known for what it is.
    package let epoch: String
    /// The number of the last packet behind this place; packets count from 1.
    package let number: UInt64

    package init(epoch: String, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// Reads the form on the wire; nil for what no history of ours gave out.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[1].allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let number = UInt64(Substring(parts[1]), radix: 36)
        else { return nil }
        self.init(epoch: String(Substring(parts[0])), number: number)
    }

    /// The form on the wire: `k3x9Qz.1f`. Every event of a server that recovers carries one, so it is short.
    package var description: String { Self.mark(of: self.epoch) + String(self.number, radix: 36) }

    /// How every offset of a history begins on the wire.
    package static func mark(of epoch: String) -> String { epoch + "." }
}
