public import ApusJSON
public import ApusSocketIOProtocol
import NIOCore

/// An event as it arrived: its name, its arguments, and the ack when the client asked for one.
public struct SocketIOEvent: Sendable {
    /// The event's name.
    public let name: String
    /// The arguments as they came, to be passed on. Who looks at them asks for ``arguments``.
    public let payload: SocketIOPayload
    let ack: SocketIOAck?
    /// What it was on the wire.
    let bytes: Int

    /// The arguments; binary ones are `.binary`, at any depth. They are decoded when they are asked for, each time anew.
    public var arguments: [SocketIOValue] { self.payload.arguments }

    /// Whether the client waits for an ack.
    public var wantsAcknowledgement: Bool { self.ack != nil }

    /// Answers the client, from any thread, now or later. The first call counts; without a client that waits it does nothing.
    public func acknowledge(_ values: SocketIOValue...) { self.ack?.send(SocketIOPayload(values)) }

    /// Answers the client with these values.
    public func acknowledge(values: [SocketIOValue]) { self.ack?.send(SocketIOPayload(values)) }

    /// Answers the client with the arguments of an event, this one or another, as they came: they are not decoded and not encoded anew.
    public func acknowledge(payload: SocketIOPayload) { self.ack?.send(payload) }

    /// Answers the client with one encoded value.
    public func acknowledge(encoding value: some Encodable & Sendable) throws {
        self.ack?.send(SocketIOPayload([try SocketIOArguments.value(of: value)]))
    }

    /// The same for who keeps it for some time.
    var detached: SocketIOEvent { SocketIOEvent(name: self.name, payload: self.payload.detached, ack: self.ack, bytes: self.bytes) }
}

/// The right to answer one event once.
///
/// `@unchecked Sendable`: the flag is touched on the socket's event loop, and at the end, when nobody else holds the object.
final class SocketIOAck: @unchecked Sendable {
    private let socket: SocketIOServerSocket
    private let id: Int
    @exclusivity(unchecked) private var isSpent = false

    init(socket: SocketIOServerSocket, id: Int) {
        self.socket = socket
        self.id = id
    }

    deinit {
        // Nobody can answer any more: a server that closes need not wait for it.
        if !self.isSpent { self.socket.ackDropped() }
    }

    func send(_ arguments: SocketIOPayload) {
        let eventLoop = self.socket.eventLoop
        if eventLoop.inEventLoop { self.sendOnLoop(arguments) } else { eventLoop.execute { self.sendOnLoop(arguments) } }
    }

    private func sendOnLoop(_ arguments: SocketIOPayload) {
        guard !self.isSpent else { return }
        self.isSpent = true
        self.socket.sendAck(self.id, arguments)
    }
}
