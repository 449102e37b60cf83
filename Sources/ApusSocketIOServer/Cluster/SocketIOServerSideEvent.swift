import ApusEngineIOProtocol
public import ApusJSON
public import ApusSocketIOProtocol
import Atomics

/// An event that another server of the cluster sent to the servers, not to clients.
public struct SocketIOServerSideEvent: Sendable {
    /// The event's name.
    public let name: String
    /// The arguments. Binary data at any depth is a `.binary` value.
    public let arguments: [SocketIOValue]
    private let ack: Ack?

    init(name: String, arguments: [SocketIOValue], respond: (@Sendable (SocketIOValue) -> Void)?) {
        self.name = name
        self.arguments = arguments
        self.ack = respond.map(Ack.init)
    }

    /// Whether the other server requested an ack.
    public var wantsAcknowledgement: Bool { self.ack != nil }

    /// Sends the ack, by default null, to the other server. May be called on any thread,
    /// immediately or later. Only the first call has an effect.
    public func acknowledge(_ value: SocketIOValue = .null) { self.ack?.send(value) }

    /// An ack that can be sent once.
    private final class Ack: Sendable {
        private let respond: @Sendable (SocketIOValue) -> Void
        private let isSent = ManagedAtomic(false)

        init(_ respond: @escaping @Sendable (SocketIOValue) -> Void) { self.respond = respond }

        func send(_ value: SocketIOValue) {
            guard !self.isSent.exchange(true, ordering: .relaxed) else { return }
            self.respond(value)
        }
    }
}
