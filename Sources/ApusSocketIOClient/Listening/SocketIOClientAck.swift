public import ApusSocketIOProtocol
import NIOConcurrencyHelpers

/// The ack of a received event. It can be sent once, from any thread, immediately or later.
///
/// Sending the ack has no effect while the socket is disconnected, and after a reconnection that
/// did not recover the session, because the server then uses a new socket.
public final class SocketIOClientAck: Sendable {
    private let send: NIOLockedValueBox<(@Sendable ([SocketIOValue]) -> Void)?>
    /// Whether the server requested an ack. If `false`, sending an ack has no effect.
    public let isExpected: Bool

    /// The ack of an event that requests none.
    public static let none = SocketIOClientAck(nil)

    init(_ send: (@Sendable ([SocketIOValue]) -> Void)?) {
        self.send = NIOLockedValueBox(send)
        self.isExpected = send != nil
    }

    /// Sends an ack with these values.
    public func with(_ values: SocketIOValue...) { self.with(arguments: values) }

    /// Sends an ack with these values.
    public func with(arguments: [SocketIOValue]) {
        let send = self.send.withLockedValue { send in
            defer { send = nil }
            return send
        }
        send?(arguments)
    }
}
