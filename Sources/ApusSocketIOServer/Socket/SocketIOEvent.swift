public import ApusJSON
public import ApusSocketIOProtocol
import Atomics

/// An event as it arrived: its name, its arguments, and the ack when the client asked for one.
public struct SocketIOEvent: Sendable {
    /// The event's name.
    public let name: String
    /// The arguments; binary ones are `.binary`, at any depth.
    public let arguments: [SocketIOValue]
    let ack: SocketIOAck?

    /// Whether the client waits for an ack.
    public var wantsAcknowledgement: Bool { self.ack != nil }

    /// Answers the client, from any thread, now or later. The first call counts; without a client that waits it does nothing.
    public func acknowledge(_ values: SocketIOValue...) { self.ack?.send(values) }

    /// Answers the client with these values.
    public func acknowledge(values: [SocketIOValue]) { self.ack?.send(values) }

    /// Answers the client with one encoded value.
    public func acknowledge(encoding value: some Encodable & Sendable) throws {
        self.ack?.send([try SocketIOArguments.value(of: value)])
    }
}

/// The right to answer one event once.
final class SocketIOAck: Sendable {
    private let socket: SocketIOServerSocket
    private let id: Int
    private let isSpent = ManagedAtomic(false)

    init(socket: SocketIOServerSocket, id: Int) {
        self.socket = socket
        self.id = id
    }

    deinit {
        // Nobody can answer any more: a server that closes need not wait for it.
        if !self.isSpent.load(ordering: .relaxed) { self.socket.ackDropped() }
    }

    func send(_ values: [SocketIOValue]) {
        guard !self.isSpent.exchange(true, ordering: .relaxed) else { return }
        self.socket.sendAck(self.id, values)
    }
}
