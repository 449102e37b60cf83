/// The sizes of a storage, and what it takes from outside.
package struct SQLiteEnvironment: Sendable {
    /// The maximum size of the writer's page cache, which SQLite may pass over at each commit.
    /// Default: 8 MiB.
    package var writerCacheBytes = 8 << 20
    /// The maximum size of the page cache of each reader. Default: 16 MiB.
    package var readerCacheBytes = 16 << 20
    /// The number of conversations and members that the writer keeps in each of two generations.
    /// Default: 100,000.
    package var hotRows = 100_000
    /// The size of the write-ahead log, in pages of 4 KiB, from which `checkpointIfDue` writes a
    /// checkpoint. Default: 16,000.
    package var checkpointPages: Int32 = 16_000
    /// The size from which a commit itself writes a checkpoint. Default: 32,000.
    package var largestLogPages: Int32 = 32_000
    /// Whether each commit is synced to disk. Only benchmarks turn it off.
    package var syncsCommits = true
    /// Returns 80 random bits or more as text, for the data epoch.
    package var makeToken: @Sendable () -> String = {
        String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
    }
    /// The result code with which the next commit fails, or 0. For tests.
    package var commitFault: @Sendable () -> Int32 = { 0 }

    package init() {}
}
