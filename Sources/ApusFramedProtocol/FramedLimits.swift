/// What a peer may announce. Every number is judged on the frame's head, before a byte of the body is waited for.
public struct FramedLimits: Sendable, Hashable {
    /// The largest header that the protocol of version 2 knows, and the largest that can be set. Unit: bytes.
    public static let highestHeaderBytes = 64 << 10

    /// The largest JSON header of a frame of version 2.
    ///
    /// Unit: bytes. Default: 64 KiB, ``highestHeaderBytes``; other values are moved into 0…64 KiB. Headers of the fixed mode all have the
    /// length that was agreed upon.
    public var maximumHeaderBytes: Int {
        get { self.headerBytes }
        set { self.headerBytes = min(max(newValue, 0), Self.highestHeaderBytes) }
    }

    private var headerBytes = highestHeaderBytes

    /// The largest body of one frame.
    ///
    /// Unit: bytes. Default: 256 MiB. A body is never held in memory whole, so that the bound may be as high as the files are that
    /// you expect; it is there so that nobody has to wait for a gigabyte that was announced by mistake.
    public var maximumBodyBytes: Int = 256 << 20

    /// How deep the arrays and objects of a header may be nested.
    ///
    /// Unit: levels. Default: 32.
    public var maximumHeaderDepth: Int = 32

    /// The defaults.
    public init() {}

    /// The defaults with another bound for bodies.
    public init(maximumBodyBytes: Int) {
        self.maximumBodyBytes = maximumBodyBytes
    }
}
