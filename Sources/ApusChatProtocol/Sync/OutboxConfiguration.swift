/// How a client sends its stored messages.
public struct OutboxConfiguration: Sendable, Hashable {
    /// Conversations that may have a message on the wire at the same time. Within one conversation it is always one. Default: 8.
    public var maximumInFlight: Int = 8

    /// The default above.
    public init() {}
}
