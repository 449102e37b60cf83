/// An event declared once: its name and the types of its arguments.
///
/// ```swift
/// enum Chat {
///     static let message = SocketEvent<ChatMessage>("chat message")
///     static let moved = SocketEvent<Int, Int>("moved")
/// }
/// socket.emit(Chat.message, ChatMessage(text: "hello"))
/// socket.on(Chat.moved) { x, y in … }
/// ```
///
/// Clients and servers take it wherever they take a name. A value that does not fit its type is reported as it is for a name with a typed handler.
public struct SocketEvent<each Argument: Codable & Sendable>: Sendable, Hashable {
    /// The event's name on the wire.
    public let name: String

    /// Declares an event. The names of the protocol (`connect`, `disconnect`, …) cannot be emitted.
    public init(_ name: String) {
        self.name = name
    }
}

/// An event declared once that is answered: its name, the types of its arguments, and last the type of its ack.
///
/// ```swift
/// let add = SocketRequest<Int, Int, Int>("add")
/// let sum = try await socket.emitWithAck(add, 1, 2)
/// ```
public struct SocketRequest<each Argument: Codable & Sendable, Answer: Codable & Sendable>: Sendable, Hashable {
    /// The event's name on the wire.
    public let name: String

    /// Declares a request. The names of the protocol (`connect`, `disconnect`, …) cannot be emitted.
    public init(_ name: String) {
        self.name = name
    }
}
