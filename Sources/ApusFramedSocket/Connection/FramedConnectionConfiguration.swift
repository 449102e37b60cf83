public import ApusFramedProtocol

/// The configuration of a framed connection of a client or a server.
public struct FramedConnectionConfiguration: Sendable {
    /// The wire format. Default: `Framing.version2`.
    public var framing: Framing = .version2

    /// The limits on headers and bodies.
    public var limits = FramedLimits()

    /// The number of received, unread bytes at which the connection stops reading.
    ///
    /// Default: 1 MiB. Slightly more can be buffered, because each socket read is processed whole.
    /// The peer is slowed down, not disconnected.
    public var receivedBytes: Int = 1 << 20

    /// The maximum time from the connection of the transport until the peer's hello arrives; on a
    /// server, including the TLS handshake.
    ///
    /// Default: 10 seconds. The fixed mode has no hello; only TLS is limited.
    public var handshakeTimeout: Duration = .seconds(10)

    /// The time within which a header must be complete, from its first byte. Default: 10 seconds.
    public var headerTimeout: Duration = .seconds(10)

    /// The time after which the connection fails if the peer reads none of the written bytes.
    /// Default: 30 seconds.
    public var stallTimeout: Duration = .seconds(30)

    /// The time without received bytes after which the peer is pinged.
    ///
    /// Default: 20 seconds. `nil` disables pings. The fixed mode has no pings. TCP keep-alive is
    /// enabled in both modes.
    public var pingInterval: Duration? = .seconds(20)

    /// The time within which the peer must send any byte after a ping. Default: 20 seconds.
    public var pingTimeout: Duration = .seconds(20)

    /// The maximum time of a graceful close: to send the queued data, and to receive the peer's
    /// bye. The connection is then aborted. Default: 5 seconds.
    public var closeTimeout: Duration = .seconds(5)

    /// Creates a configuration with default values and the given framing.
    public init(framing: Framing = .version2) {
        self.framing = framing
    }

    /// The time within which the other side of a file transfer must make progress: answer an offer,
    /// send or acknowledge data, or finish.
    ///
    /// Default: 30 seconds. On expiry the transfer fails; the connection stays open.
    public var transferTimeout: Duration = .seconds(30)

    /// The settings for files from the peer, on clients and servers. Requires version 2.
    ///
    /// Default: `nil`, no files are accepted.
    public var receiving: FileReceiving?

    /// The maximum rate of sent files in bytes per second, for all files of the connection
    /// together. Messages are not limited.
    ///
    /// Default: `nil`, no limit. Minimum: 1 KiB, because a slower sender would exceed the peer's
    /// timeout.
    public var fileBytesPerSecond: Int?

    /// The capabilities that the hello announces.
    var capabilities: Set<String> { self.receiving == nil ? [] : [Self.filesCapability, WholeFile.capability] }

    /// The capability of a side that accepts files.
    static let filesCapability = "transfer"

    /// Checks the configuration.
    ///
    /// - Throws: `FramedError.Code.invalidConfiguration` for values that are out of range or
    ///   contradictory.
    func validate(isClient: Bool) throws(FramedError) {
        try self.framing.validate(isClient: isClient)
        func invalid(_ message: String) -> FramedError { FramedError(.invalidConfiguration, message: message) }
        let times = [
            ("handshakeTimeout", self.handshakeTimeout), ("headerTimeout", self.headerTimeout), ("stallTimeout", self.stallTimeout),
            ("pingInterval", self.pingInterval ?? .seconds(1)), ("pingTimeout", self.pingTimeout), ("closeTimeout", self.closeTimeout),
            ("transferTimeout", self.transferTimeout),
        ]
        for (name, time) in times where time <= .zero { throw invalid("`\(name)` must be greater than 0, not \(time)") }
        guard self.receivedBytes > 0 else { throw invalid("`receivedBytes` must be greater than 0, not \(self.receivedBytes)") }
        let (bodyBytes, chunkBytes) = (self.limits.maximumBodyBytes, TransferChunk.maximumBodyBytes)
        guard bodyBytes >= 0 else { throw invalid("`limits.maximumBodyBytes` must not be negative, but is \(bodyBytes)") }
        guard self.receiving == nil || bodyBytes >= chunkBytes else {
            throw invalid("`limits.maximumBodyBytes` must be at least \(chunkBytes) to receive files, not \(bodyBytes)")
        }
        if let rate = self.fileBytesPerSecond, rate < TransferRate.minimumBytesPerSecond {
            throw invalid("`fileBytesPerSecond` must be at least \(TransferRate.minimumBytesPerSecond), not \(rate)")
        }
    }

    var transfers: TransferSettings {
        var settings = TransferSettings()
        settings.timeout = self.transferTimeout
        settings.cancelTimeout = min(settings.cancelTimeout, self.transferTimeout)
        return settings
    }

    var watch: LivenessMonitor.Settings {
        LivenessMonitor.Settings(
            handshakeTimeout: self.handshakeTimeout, headTimeout: self.headerTimeout, stallTimeout: self.stallTimeout,
            pingInterval: self.pingInterval, pingTimeout: self.pingTimeout)
    }
}
