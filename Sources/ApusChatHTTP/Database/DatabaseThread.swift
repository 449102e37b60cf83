package import ApusChatStorage
import Dispatch

/// An account database with a storage of its own, used by one thread.
package final class DatabaseThread: AccountDatabase, @unchecked Sendable {
    // Confined to the queue.
    private let storage: any AccountStorage
    private let queue = DispatchQueue(label: "apus.chat.accounts")

    /// - Parameter open: Opens the storage on the thread of the caller. Nothing else may use it.
    package init(_ open: () throws -> any AccountStorage) rethrows { self.storage = try open() }

    package func read<Value: Sendable>(_ body: @escaping @Sendable (any AccountReads) throws -> Value) async throws -> Value {
        try await self.write { try body($0) }
    }

    package func write<Value: Sendable>(_ body: @escaping @Sendable (any AccountStorage) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            self.queue.async { continuation.resume(with: Result { try body(self.storage) }) }
        }
    }
}
