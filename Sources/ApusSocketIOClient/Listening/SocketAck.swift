public import ApusSocketIOProtocol
import NIOConcurrencyHelpers

/// The answer to an event. Callable once, from any thread, at once or later.
///
/// An answer after the connection was lost goes nowhere: its id means nothing to the next one.
public final class SocketAck: Sendable {
    private let send: NIOLockedValueBox<(@Sendable ([SocketIOValue]) -> Void)?>
    /// Whether the server asked for an answer. If not, calling does nothing.
    public let isExpected: Bool

    /// For an event that wants no answer.
    static let none = SocketAck(nil)

    init(_ send: (@Sendable ([SocketIOValue]) -> Void)?) {
        self.send = NIOLockedValueBox(send)
        self.isExpected = send != nil
    }

    /// Answers with these values.
    public func with(_ values: SocketIOValue...) { self.with(arguments: values) }

    /// Answers with these values.
    public func with(arguments: [SocketIOValue]) {
        let send = self.send.withLockedValue { send in
            defer { send = nil }
            return send
        }
        send?(arguments)
    }
}
