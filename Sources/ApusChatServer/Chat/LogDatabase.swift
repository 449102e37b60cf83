import ApusChatHTTP
package import ApusChatService
package import ApusChatStorage
import ApusEventLoop

/// The account database in the storage of a chat log. Writes run on the thread of the log. Reads
/// run on a separate thread, so that they do not wait for the disk writes.
package final class LogDatabase: AccountDatabase {
    private let log: ChatLog
    private let reads: QueueBound<any AccountReads>

    /// - Parameter reads: The reads. No other object may use them.
    package init(_ log: ChatLog, reads: sending any AccountReads) {
        self.log = log
        self.reads = QueueBound(reads, label: "apus.chat.account-reads")
    }

    package func read<Value: Sendable>(_ body: @escaping @Sendable (any AccountReads) throws -> Value) async throws -> Value {
        try await self.reads.run(body)
    }

    package func write<Value: Sendable>(_ body: @escaping @Sendable (any AccountStorage) throws -> Value) async throws -> Value {
        try await self.log.withStorage { try body($0) }
    }
}
