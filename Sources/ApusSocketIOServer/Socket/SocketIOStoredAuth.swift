import ApusSocketIOProtocol
import NIOCore

/// The auth of a client in a form about as large as it was on the wire: it is stored as long as the
/// socket, and rarely read. As a `SocketIOValue`, `[[0],[0],…]` takes twenty times the size of its
/// text.
struct SocketIOStoredAuth: Sendable {
    /// The value as MessagePack, which supports binary data; empty for an empty object.
    private let bytes: [UInt8]

    init(_ value: SocketIOValue) {
        var buffer = ByteBuffer()
        if value != [:] {
            // A value that was decoded can be encoded: it has no NaN and is within the decoder's
            // depth limit.
            do throws(SocketIOError) { try MessagePack.write(value, into: &buffer) } catch { buffer.clear() }
        }
        self.bytes = Array(buffer.readableBytesView)
    }

    var value: SocketIOValue {
        guard !self.bytes.isEmpty else { return [:] }
        do throws(SocketIOError) { return try MessagePack.read(ByteBuffer(bytes: self.bytes)) } catch { return [:] }
    }
}
