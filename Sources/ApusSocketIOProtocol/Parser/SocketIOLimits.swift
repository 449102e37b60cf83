import ApusJSON

/// What one packet from a peer may ask for. Sizes in bytes are bounded one layer below, by Engine.IO's payload limit.
package struct SocketIOLimits: Hashable, Sendable {
    /// Attachments of one packet.
    ///
    /// Default: 10, as the reference server since CVE-2026-33151. Each may be as large as Engine.IO allows, and all are kept until the last one came.
    package var maximumAttachments: Int
    /// Levels of arrays and objects inside each other, the array of the arguments included.
    ///
    /// Default: 512, the deepest that the JSON reader takes and the writer writes; a packet that was received can be passed on.
    package var maximumDepth: Int
    /// Length of a namespace, its query (protocol 4) included.
    ///
    /// Unit: bytes. Default: 4096; a token in the query of an old client fits.
    package var maximumNamespaceBytes: Int
    /// Length of what a CONNECT carries, the auth, which is kept as long as the socket.
    ///
    /// Unit: bytes. Default: 8192.
    package var maximumConnectBytes: Int

    package init(
        maximumAttachments: Int = 10, maximumDepth: Int = JSONReader.Limits.highestDepth, maximumNamespaceBytes: Int = 4096,
        maximumConnectBytes: Int = 8192
    ) {
        self.maximumAttachments = maximumAttachments
        self.maximumDepth = maximumDepth
        self.maximumNamespaceBytes = maximumNamespaceBytes
        self.maximumConnectBytes = maximumConnectBytes
    }

    /// How the JSON of a packet is read. Half of a surrogate pair, which JavaScript peers send, must not end a connection.
    var json: JSONReader.Limits { .init(maximumDepth: self.maximumDepth, loneSurrogates: .replace) }

    func checkConnect(bytes: Int) throws(SocketIOError) {
        guard bytes <= self.maximumConnectBytes else {
            throw SocketIOError(.malformedPacket, message: "a CONNECT with \(bytes) bytes of auth, \(self.maximumConnectBytes) allowed")
        }
    }
}
