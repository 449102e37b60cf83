/// A storage whose writing thread performs maintenance between batches.
package protocol MaintainedStorage: AccountStorage {
    /// Shortens the write-ahead log if it is long. The writer calls this method after the answers
    /// of a batch are sent, so that it does not delay them.
    func checkpointIfDue() throws(StorageError)

    /// Performs a write and a sync that change no data, to determine whether the disk accepts
    /// writes.
    func probe() throws(StorageError)

    /// Reopens the data after a failed write or sync.
    func recover() throws(StorageError)

    /// Removes at most `limit` stored answers to requests from before `time`, and returns their
    /// number. The caller repeats the call until it returns less than `limit`.
    func forgetRequests(before time: Int64, limit: Int) throws(StorageError) -> Int

    /// Removes recorded text changes that the search index already contains, oldest first. Returns
    /// the number of removed changes. The caller repeats the call until it returns less than
    /// `limit`.
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
