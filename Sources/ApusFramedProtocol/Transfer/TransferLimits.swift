/// The limits on the number and size of the files that a receiver accepts.
public struct TransferLimits: Hashable, Sendable {
    /// The maximum size of a file. Unit: bytes. Default: 1 TiB.
    public var fileBytes: Int = 1 << 40
    /// The maximum size of all files of one connection together. Unit: bytes. Default: no limit.
    public var sessionBytes: Int = .max
    /// The maximum size of the stored and the incoming files together. Unit: bytes. Default: no
    /// limit. A limit makes the receiver scan the folder for each file.
    public var totalBytes: Int = .max
    /// The space that is kept free on the disk. Unit: bytes. Default: 64 MiB.
    public var reservedBytes: Int = 64 << 20
    /// The maximum number of concurrent transfers of one connection. Default: 16. While the disk is
    /// slow, each transfer can occupy up to 8 MiB of memory, and all transfers together about 24
    /// MiB. Files of at most 16 KiB, whose bytes arrive with their offers, have a separate limit of
    /// 64.
    public var transfersOfSession: Int = 16
    /// The time for which an unfinished file is kept for its sender. Default: seven days.
    public var expiry: Duration = .seconds(7 * 24 * 3600)

    /// Creates limits with the default values.
    public init() {}
}
