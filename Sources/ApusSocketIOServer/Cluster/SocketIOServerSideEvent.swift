public import ApusJSON
public import ApusSocketIOProtocol
import Atomics

/// An event that another server of the cluster sent to the servers, not to their clients.
public struct SocketIOServerSideEvent: Sendable {
    /// The event's name.
    public let name: String
    /// The arguments; binary ones are `.binary`, at any depth.
    public let arguments: [SocketIOValue]
    private let ack: Ack?

    init(name: String, arguments: [SocketIOValue], respond: (@Sendable (SocketIOValue) -> Void)?) {
        self.name = name
        self.arguments = arguments
        self.ack = respond.map(Ack.init)
    }

    /// Whether the other server waits for an answer.
    public var wantsAcknowledgement: Bool { self.ack != nil }

    /// Answers the other server, from any thread, now or later. The first call counts.
    public func acknowledge(_ value: SocketIOValue = .null) { self.ack?.send(value) }

    /// The right to answer once.
    private final class Ack: Sendable {
        private let respond: @Sendable (SocketIOValue) -> Void
        private let isSpent = ManagedAtomic(false)

        init(_ respond: @escaping @Sendable (SocketIOValue) -> Void) { self.respond = respond }

        func send(_ value: SocketIOValue) {
            guard !self.isSpent.exchange(true, ordering: .relaxed) else { return }
            self.respond(value)
        }
    }
}
