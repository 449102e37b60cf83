/// Configures how a client sends its stored messages.
public struct OutboxConfiguration: Sendable, Hashable {
    /// The maximum number of conversations with a message in flight. Each conversation has at most
    /// one. Default: 8.
    public var maximumInFlight: Int = 8

    /// Creates a configuration with the default values.
    public init() {}
}
