package import ApusChatStorage

/// The rows of accounts, as the routes reach them: the thread that commits messages runs the
/// writes between two batches.
package protocol AccountDatabase: Sendable {
    /// Runs reads in the order of their user's requests.
    func read<Value: Sendable>(_ body: @escaping @Sendable (any AccountReads) throws -> Value) async throws -> Value

    /// Runs reads and writes that no other write can come between. A write is durable when it
    /// returns.
    func write<Value: Sendable>(_ body: @escaping @Sendable (any AccountStorage) throws -> Value) async throws -> Value
}

extension ChatStorage {
    /// Writes one batch.
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
