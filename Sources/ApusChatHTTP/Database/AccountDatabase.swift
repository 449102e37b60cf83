package import ApusChatStorage

/// The access of the HTTP routes to the rows of accounts. In the chat server, the thread that
/// commits messages runs the writes between two batches.
package protocol AccountDatabase: Sendable {
    /// Runs reads. The calls run one after another.
    func read<Value: Sendable>(_ body: @escaping @Sendable (any AccountReads) throws -> Value) async throws -> Value

    /// Runs reads and writes without other writes between them. The changes are durable when the
    /// method returns.
    func write<Value: Sendable>(_ body: @escaping @Sendable (any AccountStorage) throws -> Value) async throws -> Value
}

extension ChatStorage {
    /// Begins, fills and commits one batch.
    func commit(_ needs: Needs = Needs(), _ configure: (inout Changes, Facts) throws -> Void) throws {
        let facts = try self.begin(needs)
        do {
            var changes = Changes()
            try configure(&changes, facts)
            _ = try self.commit(changes)
        } catch {
            self.abandon()
            throw error
        }
    }
}
