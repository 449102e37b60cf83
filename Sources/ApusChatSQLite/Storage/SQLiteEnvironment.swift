/// The sizes of a storage, and its non-deterministic inputs.
package struct SQLiteEnvironment: Sendable {
    /// The maximum size of the writer's page cache, in bytes. SQLite may scan the whole cache at
    /// each commit. Default: 8 MiB.
    package var writerCacheBytes = 8 << 20
    /// The maximum size of the page cache of each reader, in bytes. Default: 16 MiB.
    package var readerCacheBytes = 16 << 20
    /// The number of conversations and members above which a generation of cached rows is full.
    /// Default: 100,000.
    package var hotRows = 100_000
    /// The number of entries of `event_recent` at which a batch moves a part of them to
    /// `event_place`. Default: 600.
    package var recentPlaces = 600
    /// The size of the write-ahead log at which `checkpointIfDue` writes a checkpoint, in pages of
    /// 4 KiB. Default: 16,000.
    package var checkpointPages: Int32 = 16_000
    /// The size of the write-ahead log at which a commit writes a checkpoint before it returns, in
    /// pages of 4 KiB. Default: 32,000.
    package var largestLogPages: Int32 = 32_000
    /// Whether each commit is synced to disk. Only benchmarks disable this.
    package var syncsCommits = true
    /// Returns at least 80 random bits as text, for the data epoch.
    package var makeToken: @Sendable () -> String = {
        String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
    }
    /// The result code with which the next commit fails, or 0. For tests.
    package var commitFault: @Sendable () -> Int32 = { 0 }

    package init() {}
}
