/// The declaration of an event: its name and the types of its arguments.
///
/// ```swift
/// enum Chat {
///     static let message = SocketIOEvent<ChatMessage>("chat message")
///     static let moved = SocketIOEvent<Int, Int>("moved")
/// }
/// socket.emit(Chat.message, ChatMessage(text: "hello"))
/// socket.on(Chat.moved) { x, y in … }
/// ```
///
/// Clients and servers accept a declaration in place of an event name. An argument that does not
/// decode is reported as by the methods with an event name and typed arguments.
public struct SocketIOEvent<each Argument: Codable & Sendable>: Sendable, Hashable {
    /// The event's name on the wire.
    public let name: String

    /// Declares an event. The reserved names (`connect`, `disconnect`, …) cannot be emitted.
    public init(_ name: String) {
        self.name = name
    }
}

/// The declaration of an event with an ack: its name, the types of its arguments, and finally the
/// type of its ack.
///
/// ```swift
/// let add = SocketIORequest<Int, Int, Int>("add")
/// let sum = try await socket.emitWithAck(add, 1, 2)
/// ```
public struct SocketIORequest<each Argument: Codable & Sendable, Answer: Codable & Sendable>: Sendable, Hashable {
    /// The event's name on the wire.
    public let name: String

    /// Declares an event with an ack. The reserved names (`connect`, `disconnect`, …) cannot be
    /// emitted.
    public init(_ name: String) {
        self.name = name
    }
}
