public import ApusFramedProtocol

/// How a framed connection behaves, a client's or a server's.
public struct FramedConnectionConfiguration: Sendable {
    /// How messages lie on the wire. Default: ``Framing/version2``.
    public var framing: Framing = .version2

    /// The bounds of headers and bodies.
    public var limits = FramedLimits()

    /// Bytes received and not yet taken by a reader before the connection stops reading.
    ///
    /// Default: 1 MiB. What one read of the socket held is taken whole, so that a little more can be there. The peer is slowed down, not cut.
    public var receivedBytes: Int = 1 << 20

    /// The time from the transport's first moment to the peer's hello, TLS included at a server. No byte of the peer prolongs it.
    ///
    /// Default: 10 seconds. In the fixed mode nobody says hello: only TLS counts.
    public var handshakeTimeout: Duration = .seconds(10)

    /// The time the header of a message may take from its first byte on. No byte prolongs it. Default: 10 seconds.
    public var headerTimeout: Duration = .seconds(10)

    /// How long a peer may take nothing of what is written before the connection is given up. Default: 30 seconds.
    public var stallTimeout: Duration = .seconds(30)

    /// Silence of the peer after which it is pinged. Any byte of it counts as life.
    ///
    /// Default: 20 seconds. `nil`: no pings. The fixed mode has none; TCP's own keep-alive is on in both.
    public var pingInterval: Duration? = .seconds(20)

    /// Time a peer has to break its silence after a ping. Default: 20 seconds.
    public var pingTimeout: Duration = .seconds(20)

    /// The time a goodbye may take: what is under way to leave, and the peer to answer. The connection is cut then. Default: 5 seconds.
    public var closeTimeout: Duration = .seconds(5)

    /// The defaults, with a framing.
    public init(framing: Framing = .version2) {
        self.framing = framing
    }

    /// The time the other side of a file's transfer may take to get on: to answer an offer, to send or acknowledge something, to finish.
    ///
    /// Default: 30 seconds. The transfer fails then, not its connection.
    public var transferTimeout: Duration = .seconds(30)

    /// What becomes of files the peer sends; a client may take them as well as a server. Needs version 2.
    ///
    /// Default: `nil`, none are taken.
    public var receiving: FileReceiving?

    /// The most bytes of files that are sent in a second, all files of the connection together. Messages are not counted.
    ///
    /// Default: `nil`, as fast as the peer takes them. At least 1 KiB: less looks like a sender that got stuck.
    public var fileBytesPerSecond: Int?

    /// What the hello says we can do beyond messages.
    var capabilities: Set<String> { self.receiving == nil ? [] : [Self.filesCapability, WholeFile.capability] }

    /// The side that says it takes files.
    static let filesCapability = "transfer"

    /// - Throws: ``FramedError/Code/invalidUse`` with what contradicts itself.
    func validate(isClient: Bool) throws(FramedError) {
        try self.framing.validate(isClient: isClient)
        let times = [
            self.handshakeTimeout, self.headerTimeout, self.stallTimeout, self.pingInterval ?? .seconds(1), self.pingTimeout,
            self.closeTimeout, self.transferTimeout,
        ]
        guard times.allSatisfy({ $0 > .zero }) else { throw FramedError(.invalidUse, message: "a deadline or an interval of no time") }
        guard self.receiving == nil || self.limits.maximumBodyBytes >= TransferChunk.maximumBytes + TransferChunk.prefixBytes else {
            throw FramedError(.invalidUse, message: "files come in chunks of 256 KiB: maximumBodyBytes lets none through")
        }
        guard self.fileBytesPerSecond.map({ $0 >= TransferRate.minimumBytesPerSecond }) ?? true else {
            throw FramedError(.invalidUse, message: "a rate of less than \(TransferRate.minimumBytesPerSecond) bytes a second")
        }
        guard self.receivedBytes > 0, self.limits.maximumBodyBytes >= 0 else {
            throw FramedError(.invalidUse, message: "bounds that let nothing through")
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
