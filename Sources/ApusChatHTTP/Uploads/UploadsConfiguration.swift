import ApusChatProtocol

/// The limits of uploads.
package struct UploadsConfiguration: Sendable {
    /// The maximum size of an upload. Default: 100 MiB.
    package var maximumBytes = ChatLimits.blobBytes
    /// The maximum size of all uploads of a user, finished or not. Default: 1 GiB.
    package var quota: Int64 = 1 << 30
    /// The time after which an unfinished upload is removed. Default: a day.
    package var lifetime: Int64 = 86_400_000
    /// The time after which an upload without a reference is removed. Default: a week.
    package var orphanLifetime: Int64 = 7 * 86_400_000
    /// The maximum number of unfinished uploads of a user. Default: 20.
    package var unfinishedOfUser = 20
    /// The maximum number of transfers under way: of a user, of an address, and in total.
    package var transfers = (ofUser: 4, ofAddress: 32, all: 512)
    /// A transfer that is slower than this is cut, and continues where it stopped. Default: 1,024
    /// bytes a second, over 30 s.
    package var minimumRate = 1_024
    /// The number of bytes after which a transfer is synced to disk. Default: 4 MiB.
    package var syncBytes: Int64 = 4 << 20

    package init() {}
}
