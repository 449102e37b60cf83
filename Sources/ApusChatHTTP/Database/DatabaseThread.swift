package import ApusChatStorage
import ApusEventLoop

/// An account database that uses its own storage on a dedicated thread.
package final class DatabaseThread: AccountDatabase {
    private let storage: QueueBound<any AccountStorage>

    /// - Parameter open: A function that opens the storage, on the thread of the caller. No other
    ///   object may use the storage.
    package init(_ open: () throws -> sending any AccountStorage) rethrows {
        self.storage = QueueBound(try open(), label: "apus.chat.accounts")
    }

    package func read<Value: Sendable>(_ body: @escaping @Sendable (any AccountReads) throws -> Value) async throws -> Value {
        try await self.storage.run { try body($0) }
    }

    package func write<Value: Sendable>(_ body: @escaping @Sendable (any AccountStorage) throws -> Value) async throws -> Value {
        try await self.storage.run(body)
    }
}
