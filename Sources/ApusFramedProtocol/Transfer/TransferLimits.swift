/// How many files, and how much of them, a receiver takes.
public struct TransferLimits: Hashable, Sendable {
    /// The largest file. Unit: bytes. Default: 1 TiB.
    public var fileBytes: Int = 1 << 40
    /// All files of one connection together. Unit: bytes. Default: no bound.
    public var sessionBytes: Int = .max
    /// What stands in the folder and what is on its way, together. Unit: bytes. Default: no bound. The folder is looked through for every file
    /// when there is one.
    public var totalBytes: Int = .max
    /// What is left free on the disk. Unit: bytes. Default: 64 MiB.
    public var reservedBytes: Int = 64 << 20
    /// Transfers under way in one connection. Default: 16. Each holds up to a window of 8 MiB while the disk lags, and all of
    /// them together about 24 MiB. Files of at most 16 KiB, whose bytes come with their offers, are not among them: of those up to 64 are taken.
    public var transfersOfSession: Int = 16
    /// How long an unfinished file waits for its sender. Default: seven days.
    public var expiry: Duration = .seconds(7 * 24 * 3600)

    /// The defaults.
    public init() {}
}
