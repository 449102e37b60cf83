public import ApusFramedProtocol

/// The configuration of a framed server. The defaults are safe for servers on the internet.
public struct FramedServerConfiguration: Sendable {
    /// The configuration of each connection.
    public var connection: FramedConnectionConfiguration

    /// The maximum number of concurrent connections. Further ones are closed immediately.
    ///
    /// A connection is counted until its handler has returned, even after it has closed.
    ///
    /// Default: 1,000. Each connection needs a file descriptor and may buffer
    /// ``FramedConnectionConfiguration/receivedBytes``.
    public var maximumConnections: Int = 1_000

    /// The maximum number of connections of one IPv4 address or one IPv6 /64 network. Further ones
    /// are closed immediately.
    ///
    /// Default: 100. Loopback and Unix-socket connections are not counted.
    public var maximumConnectionsPerAddress: Int = 100

    /// The maximum time of a shutdown. Remaining connections are then aborted, and the tasks of
    /// their handlers cancelled. Default: 20 seconds.
    public var drainTimeout: Duration = .seconds(20)

    /// Creates a configuration with default values and the given framing.
    ///
    /// - Parameter framing: The wire format. `Framing.either(headerLength:)` serves both kinds of
    ///   peers on one port.
    public init(framing: Framing = .version2) {
        self.connection = FramedConnectionConfiguration(framing: framing)
    }

    /// Checks the configuration. `run` calls it.
    ///
    /// - Throws: `FramedError.Code.invalidConfiguration` for values that are out of range.
    public func validate() throws(FramedError) {
        try self.connection.validate(isClient: false)
        let numbers = [
            ("maximumConnections", self.maximumConnections), ("maximumConnectionsPerAddress", self.maximumConnectionsPerAddress),
        ]
        for (name, number) in numbers where number <= 0 {
            throw FramedError(.invalidConfiguration, message: "`\(name)` must be greater than 0, not \(number)")
        }
        guard self.drainTimeout >= .zero else {
            throw FramedError(.invalidConfiguration, message: "`drainTimeout` must not be negative, but is \(self.drainTimeout)")
        }
    }
}
