public import ApusJSON
public import ApusSocketIOProtocol
import NIOCore

/// A received event: its name, its arguments, and the ack if the client requested one.
public struct SocketIOReceivedEvent: Sendable {
    /// The event's name.
    public let name: String
    /// The arguments in their received form, for relaying. To read them, use ``arguments``.
    public let payload: SocketIOPayload
    let ack: SocketIOAck?
    /// The size of the event on the wire, in bytes.
    let bytes: Int

    /// The arguments. Binary data at any depth is a `.binary` value. Each access decodes them
    /// again.
    public var arguments: [SocketIOValue] { self.payload.arguments }

    /// Whether the client requested an ack.
    public var wantsAcknowledgement: Bool { self.ack != nil }

    /// Acknowledges the event with these values. May be called on any thread. Only the first call
    /// has an effect, and only if the client requested an ack.
    public func acknowledge(_ values: SocketIOValue...) { self.ack?.send(SocketIOPayload(values)) }

    /// Acknowledges the event with these values.
    public func acknowledge(values: [SocketIOValue]) { self.ack?.send(SocketIOPayload(values)) }

    /// Acknowledges the event with the received arguments of any event, without decoding and
    /// encoding them again.
    public func acknowledge(payload: SocketIOPayload) { self.ack?.send(payload) }

    /// Acknowledges the event with one encoded value.
    ///
    /// - Throws: `SocketIOError.Code.invalidUse` with the encoder's error as its cause.
    public func acknowledge(encoding value: some Encodable & Sendable) throws(SocketIOError) {
        self.ack?.send(SocketIOPayload([try SocketIOArguments.value(of: value)]))
    }

    /// A copy that is safe to store: it does not share the memory of the received message.
    var detached: SocketIOReceivedEvent {
        SocketIOReceivedEvent(name: self.name, payload: self.payload.detached, ack: self.ack, bytes: self.bytes)
    }
}

/// The ack of one event, which can be sent once.
///
/// `@unchecked Sendable`: the flag is accessed on the socket's event loop, and in `deinit`, when no
/// other reference exists.
final class SocketIOAck: @unchecked Sendable {
    private let socket: SocketIOServerSocket
    private let id: Int
    /// Whether the ack was sent. Unchecked, because it is accessed in single statements only.
    @exclusivity(unchecked) private var isSent = false

    /// Creates the ack of an event when it is received, on the socket's event loop.
    init(socket: SocketIOServerSocket, id: Int) {
        self.socket = socket
        self.id = id
        socket.hot.owedAcks += 1
    }

    deinit {
        // The ack can no longer be sent, so a server that shuts down must not wait for it.
        if !self.isSent { self.socket.ackDropped() }
    }

    func send(_ arguments: SocketIOPayload) {
        let eventLoop = self.socket.eventLoop
        guard eventLoop.inEventLoop else { return eventLoop.execute { self.send(arguments) } }
        guard !self.isSent else { return }
        self.isSent = true
        self.socket.sendAck(self.id, arguments)
    }
}
