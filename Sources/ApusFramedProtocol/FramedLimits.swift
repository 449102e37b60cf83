/// The limits on what a peer may announce. Each limit is checked on the head of a frame, before the
/// body is read.
public struct FramedLimits: Sendable, Hashable {
    /// The largest header that version 2 allows, and the upper bound of ``maximumHeaderBytes``.
    /// Unit: bytes.
    public static let highestHeaderBytes = 64 << 10

    /// The largest JSON header of a frame of version 2.
    ///
    /// Unit: bytes. Default: 64 KiB, ``highestHeaderBytes``; other values are clamped to 0…64 KiB.
    /// Headers of the fixed mode always have the agreed length.
    public var maximumHeaderBytes: Int {
        get { self.headerBytes }
        set { self.headerBytes = min(max(newValue, 0), Self.highestHeaderBytes) }
    }

    private var headerBytes = highestHeaderBytes

    /// The largest body of one frame.
    ///
    /// Unit: bytes. Default: 256 MiB. Bodies are never kept in memory as a whole, so the limit can
    /// be as high as the largest expected file. It rejects a length that is larger than any
    /// expected file.
    public var maximumBodyBytes: Int = 256 << 20

    /// The maximum nesting of arrays and objects in a header.
    ///
    /// Unit: levels. Default: 32.
    public var maximumHeaderDepth: Int = 32

    /// Creates limits with the default values.
    public init() {}

    /// Creates limits with the given limit for bodies and default values for the others.
    public init(maximumBodyBytes: Int) {
        self.maximumBodyBytes = maximumBodyBytes
    }
}
