/// A storage with what its writing thread does between batches.
package protocol MaintainedStorage: AccountStorage {
    /// Shortens a write-ahead log that has become long. Called after the acks of a batch, so that
    /// they do not wait for it.
    func checkpointIfDue() throws(StorageError)

    /// Writes and syncs without a change, to find whether the disk takes writes.
    func probe() throws(StorageError)

    /// Opens the data again after a failed write or sync.
    func recover() throws(StorageError)

    /// Removes the oldest answers of requests that were stored before `time`. The writer calls it
    /// between batches until it returns less than `limit`.
    func forgetRequests(before time: Int64, limit: Int) throws(StorageError) -> Int

    /// Removes the oldest changes of texts before one that the search index has seen
    /// (`SearchIndexing.lastChange`), in the same way.
    func forgetTextChanges(before number: Int64, limit: Int) throws(StorageError) -> Int
}

extension MemoryStorage: MaintainedStorage {
    package func checkpointIfDue() {}
    package func probe() {}
    package func recover() { self.abandon() }
    package func forgetTextChanges(before number: Int64, limit: Int) -> Int { 0 }
}
