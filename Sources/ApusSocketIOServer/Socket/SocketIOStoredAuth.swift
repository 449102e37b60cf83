import ApusSocketIOProtocol
import NIOCore

/// The auth of a client in a form that takes about as much memory as it had on the wire: it is kept as long as the socket, and
/// seldom looked at. As values, `[[0],[0],…]` takes twenty times its text.
struct SocketIOStoredAuth: Sendable {
    /// MessagePack, which holds binary data too; empty for an empty object.
    private let bytes: [UInt8]

    init(_ value: SocketIOValue) {
        var buffer = ByteBuffer()
        if value != [:] {
            // What was read can be written: it has no NaN and is no deeper than the reader permits.
            do throws(SocketIOError) { try MessagePack.write(value, into: &buffer) } catch { buffer.clear() }
        }
        self.bytes = Array(buffer.readableBytesView)
    }

    var value: SocketIOValue {
        guard !self.bytes.isEmpty else { return [:] }
        do throws(SocketIOError) { return try MessagePack.read(ByteBuffer(bytes: self.bytes)) } catch { return [:] }
    }
}
