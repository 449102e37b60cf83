public import ApusJSON

/// The limits on a packet from a peer. The payload limit of Engine.IO bounds the size of each
/// message in bytes.
public struct SocketIOLimits: Hashable, Sendable {
    /// The maximum number of attachments of a packet.
    ///
    /// Default: 10, as in socket.io for Node since CVE-2026-33151. Each attachment may have the
    /// size that Engine.IO permits, and all are kept until the last one arrives.
    public var maximumAttachments: Int
    /// The maximum nesting depth of arrays and objects, including the array of the arguments.
    ///
    /// Default: 512, the limit of the JSON reader and writer, so that every received packet can be
    /// relayed.
    public var maximumDepth: Int
    /// The maximum length of a namespace, including its query in protocol version 4.
    ///
    /// Unit: bytes. Default: 4096, enough for a token in the query of a version 4 client.
    public var maximumNamespaceBytes: Int
    /// The maximum length of the auth in a CONNECT. The auth is kept as long as the socket.
    ///
    /// Unit: bytes. Default: 8192.
    public var maximumConnectBytes: Int

    /// Creates limits; the properties describe the parameters and their defaults.
    public init(
        maximumAttachments: Int = 10, maximumDepth: Int = JSONReader.Limits.highestDepth, maximumNamespaceBytes: Int = 4096,
        maximumConnectBytes: Int = 8192
    ) {
        self.maximumAttachments = maximumAttachments
        self.maximumDepth = maximumDepth
        self.maximumNamespaceBytes = maximumNamespaceBytes
        self.maximumConnectBytes = maximumConnectBytes
    }

    /// The limits for the JSON of a packet. JavaScript peers send lone surrogates, which must not
    /// end a connection.
    var json: JSONReader.Limits { .init(maximumDepth: self.maximumDepth, loneSurrogates: .replace) }

    func checkConnect(bytes: Int) throws(SocketIOError) {
        guard bytes <= self.maximumConnectBytes else {
            throw SocketIOError(
                .malformedPacket,
                message:
                    "the auth of CONNECT has \(bytes) bytes; the maximum is \(self.maximumConnectBytes) (`maximumConnectBytes`, of a server `maximumAuthBytes`)"
            )
        }
    }
}
