import ApusChatProtocol

/// The limits of uploads.
package struct UploadsConfiguration: Sendable {
    /// The maximum size of an upload, in bytes. Default: 100 MiB.
    package var maximumBytes = ChatLimits.blobBytes
    /// The maximum total size of the uploads of a user, complete or not, in bytes. Default: 1 GiB.
    package var quota: Int64 = 1 << 30
    /// The time after which an unfinished upload is removed, in milliseconds. Default: a day.
    package var lifetime: Int64 = 86_400_000
    /// The time from the upload until a blob without a reference is removed, in milliseconds.
    /// Default: a week.
    package var orphanLifetime: Int64 = 7 * 86_400_000
    /// The maximum number of unfinished uploads of a user. Default: 20.
    package var unfinishedOfUser = 20
    /// The maximum numbers of running transfers: of a user, of an address, and in total.
    package var transfers = (ofUser: 4, ofAddress: 32, all: 512)
    /// The minimum rate of a transfer, in bytes per second over 30 s. A slower transfer is
    /// interrupted, and can be continued. Default: 1,024.
    package var minimumRate = 1_024
    /// The number of bytes after which a transfer is synced to disk. Default: 4 MiB.
    package var syncBytes: Int64 = 4 << 20

    /// The time that the end of an upload waits for previews, so that a message can have the
    /// BlurHash. Default: 2 s.
    package var previewWait = Duration.seconds(2)
    /// The time that the end of an upload waits until the bytes are stored. After it, the client is
    /// asked to repeat the request, so that no proxy ends the connection. Default: 40 s.
    package var storeWait = Duration.seconds(40)

    package init() {}
}
