import ApusChatHTTP
package import ApusChatService
package import ApusChatStorage
import Dispatch

/// The account rows of a storage that the log of the chat writes. Reads have a thread of their own,
/// so that they do not wait for a disk that syncs.
package final class LogDatabase: AccountDatabase, @unchecked Sendable {
    private let log: ChatLog
    // Confined to the queue.
    private let reads: any AccountReads
    private let queue = DispatchQueue(label: "apus.chat.account-reads")

    /// - Parameter reads: Nothing else may use it.
    package init(_ log: ChatLog, reads: sending any AccountReads) {
        self.log = log
        self.reads = reads
    }

    package func read<Value: Sendable>(_ body: @escaping @Sendable (any AccountReads) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            self.queue.async { continuation.resume(with: Result { try body(self.reads) }) }
        }
    }

    package func write<Value: Sendable>(_ body: @escaping @Sendable (any AccountStorage) throws -> Value) async throws -> Value {
        try await self.log.withStorage { try body($0) }
    }
}
