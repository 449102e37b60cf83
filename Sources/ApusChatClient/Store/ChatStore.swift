import ApusChatProtocol
import Foundation
import GRDB

/// The client's SQLite file, which contains conversations, events, the outbox and the cursors.
///
/// It uses one connection, because SQLite before 3.51.3 can lose a WAL that two connections reset
/// at once. With WAL and `synchronous=FULL`, committed data survives a power failure. Calls block
/// on the disk; the engine runs them on a separate queue.
final class ChatStore: Sendable {
    let database: DatabaseQueue

    /// Opens the file, or creates it with access for its owner only. `:memory:` creates a store in
    /// memory.
    init(path: String) throws(ChatClientError) {
        do {
            var configuration = Configuration()
            configuration.label = "apus.chat.store"
            configuration.busyMode = .timeout(5)
            if path == ":memory:" {
                self.database = try DatabaseQueue(configuration: configuration)
            } else {
                try Self.createPrivately(path)
                configuration.journalMode = .wal
                self.database = try DatabaseQueue(path: path, configuration: configuration)
            }
            try self.database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            let migrator = Self.migrator
            if try self.database.read({ try migrator.hasBeenSuperseded($0) }) {
                throw ChatClientError(
                    .wrongStore, message: "\(path) was written by a newer release; update this program or use another store")
            }
            try migrator.migrate(self.database)
        } catch let error as ChatClientError {
            throw error
        } catch {
            throw ChatClientError(.store, message: "cannot open the store \(path): \(error)", cause: error)
        }
    }

    private static func createPrivately(_ path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw ChatClientError(.store, message: "cannot create \(path); check that its folder exists and is writable")
        }
    }

    /// Closes the file.
    func close() {
        try? self.database.close()
    }

    func read<Value>(_ body: (Database) throws -> Value) throws(ChatClientError) -> Value {
        do { return try self.database.read(body) } catch { throw Self.wrapped(error) }
    }

    func write<Value>(_ body: (Database) throws -> Value) throws(ChatClientError) -> Value {
        do { return try self.database.write(body) } catch { throw Self.wrapped(error) }
    }

    private static func wrapped(_ error: any Error) -> ChatClientError {
        if let error = error as? ChatClientError { return error }
        return ChatClientError(.store, message: "the local store failed: \(error)", cause: error)
    }
}
