public import ApusFramedProtocol

/// How a framed server behaves. The defaults are safe for a server that faces the internet.
public struct FramedServerConfiguration: Sendable {
    /// How each connection behaves.
    public var connection: FramedConnectionConfiguration

    /// The most connections at once. Those above are closed without a word.
    ///
    /// A handler that goes on after its connection has ended keeps the place until it returns.
    ///
    /// Default: 1,000. Each needs a file descriptor and may hold ``FramedConnectionConfiguration/receivedBytes``.
    public var maximumConnections: Int = 1_000

    /// The most connections of one IPv4 address or one IPv6 /64 network. Those above are closed without a word.
    ///
    /// Default: 100. The loopback and Unix sockets are not counted.
    public var maximumConnectionsPerAddress: Int = 100

    /// The time a going-down may take. Whoever is connected then is cut, and the tasks of the handlers are cancelled. Default: 20 seconds.
    public var drainTimeout: Duration = .seconds(20)

    /// The defaults, with a framing.
    ///
    /// - Parameter framing: How messages lie on the wire. ``Framing/either(headerLength:)`` serves old and new peers on one port.
    public init(framing: Framing = .version2) {
        self.connection = FramedConnectionConfiguration(framing: framing)
    }

    /// Says what contradicts itself. `run` asks.
    ///
    /// - Throws: ``FramedError/Code/invalidUse`` with what is wrong.
    public func validate() throws(FramedError) {
        try self.connection.validate(isClient: false)
        guard self.maximumConnections > 0, self.maximumConnectionsPerAddress > 0, self.drainTimeout >= .zero else {
            throw FramedError(.invalidUse, message: "caps that let nobody in, or a drain of less than no time")
        }
    }
}
