/// What one packet from a peer may ask for. Sizes in bytes are bounded one layer below, by Engine.IO's payload limit.
package struct SocketIOLimits: Hashable, Sendable {
    /// Attachments of one packet.
    ///
    /// Default: 10, as the reference server since CVE-2026-33151. Each may be as large as Engine.IO allows, and all are kept until the last one came.
    package var maximumAttachments: Int
    /// Levels of arrays and objects inside each other.
    ///
    /// Default: 128.
    package var maximumDepth: Int
    /// Length of a namespace, its query (protocol 4) included.
    ///
    /// Unit: bytes. Default: 4096; a token in the query of an old client fits.
    package var maximumNamespaceBytes: Int

    package init(maximumAttachments: Int = 10, maximumDepth: Int = 128, maximumNamespaceBytes: Int = 4096) {
        self.maximumAttachments = maximumAttachments
        self.maximumDepth = maximumDepth
        self.maximumNamespaceBytes = maximumNamespaceBytes
    }
}
