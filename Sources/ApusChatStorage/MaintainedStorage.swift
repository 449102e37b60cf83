/// A storage with the maintenance that its writing thread performs between batches.
package protocol MaintainedStorage: AccountStorage {
    /// Shortens the write-ahead log if it is long. Called after the answers of a batch are sent, so
    /// that they are not delayed.
    func checkpointIfDue() throws(StorageError)

    /// Writes and syncs without a change of data, to determine whether the disk accepts writes.
    func probe() throws(StorageError)

    /// Opens the data again after a failed write or sync.
    func recover() throws(StorageError)

    /// Removes the oldest stored answers to requests from before `time`. The writer calls it
    /// between batches until it returns less than `limit`.
    func forgetRequests(before time: Int64, limit: Int) throws(StorageError) -> Int

    /// Removes recorded changes of texts that the search index already contains, the oldest first,
    /// and returns how many it removed. Callers repeat the call until it returns less than `limit`.
    ///
    /// - Parameters:
    ///   - number: The number of the last change in the index (`SearchIndexing.lastChange`). Only
    ///     changes with lower numbers are removed.
    ///   - limit: The maximum number of changes that the call removes.
    func forgetTextChanges(before number: Int64, limit: Int) throws(StorageError) -> Int
}

extension MemoryStorage: MaintainedStorage {
    package func checkpointIfDue() {}
    package func probe() {}
    package func recover() { self.abandon() }
    package func forgetTextChanges(before number: Int64, limit: Int) -> Int { 0 }
}
