import Foundation
import GRDB
import NIOConcurrencyHelpers

/// The client's SQLite file: heads, events, unsent messages, positions and the search index.
///
/// It uses one connection, because SQLite before 3.51.3 can lose the write-ahead log if two
/// connections reset it at the same time. The methods wait for the disk; the engine calls them on a
/// dedicated queue.
///
/// Data that the server also has is written without a sync to disk (WAL, `synchronous=NORMAL`). A
/// power failure can lose the newest transactions as a whole, with their cursors and tokens; the
/// client then requests the data again. Data that only this client has is written by
/// ``writeDurably(_:)``.
package final class ChatStore: Sendable {
    /// The open database; nil after the store is closed, because GRDB crashes on a read of a closed
    /// database. The lock is held during each access; accesses are serial in any case.
    private let opened: NIOLockedValueBox<DatabaseQueue?>
    private let clock: @Sendable () -> Int64
    /// The difference between the clock of the server and the clock of the device, in milliseconds.
    private let offset = NIOLockedValueBox<Int64>(0)
    /// Returns the time by which messages expire: the time of the server if it is known, else the
    /// time of the device.
    func now() -> Int64 { self.clock() &+ self.offset.withLockedValue { $0 } }
    /// Records the current time of the server.
    func setServerTime(_ time: Int64) { self.offset.withLockedValue { $0 = time &- self.clock() } }

    /// Opens the file, or creates it with access for its owner only. The path `:memory:` creates a
    /// store in memory.
    package init(path: String, now: @escaping @Sendable () -> Int64 = ChatEnvironment.live.now) throws(ChatClientError) {
        self.clock = now
        do {
            var configuration = Configuration()
            configuration.label = "apus.chat.store"
            configuration.busyMode = .timeout(5)
            let database: DatabaseQueue
            if path == ":memory:" {
                database = try DatabaseQueue(configuration: configuration)
            } else {
                try Self.createPrivately(path)
                configuration.journalMode = .wal
                database = try DatabaseQueue(path: path, configuration: configuration)
            }
            let migrator = Self.migrator
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
            if try database.read({ try migrator.hasBeenSuperseded($0) }) {
                throw ChatClientError(
                    .wrongStore, message: "\(path) was written by a newer release; update this program or use another store")
            }
            try migrator.migrate(database)
            self.opened = NIOLockedValueBox(database)
        } catch {
            throw Self.wrapped(error)
        }
    }

    private static func createPrivately(_ path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw ChatClientError(.store, message: "cannot create \(path); check that its folder exists and is writable")
        }
    }

    /// Closes the file after the current access. Later accesses throw `closed`.
    package func close() {
        self.opened.withLockedValue { opened in
            try? opened?.close()
            opened = nil
        }
    }

    /// Removes the files of a closed store.
    static func remove(path: String) throws(ChatClientError) {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            do { try FileManager.default.removeItem(atPath: path + suffix) } catch {
                throw ChatClientError(.store, message: "cannot remove \(path + suffix): \(error)")
            }
        }
    }

    func read<Value>(_ body: (Database) throws -> Value) throws(ChatClientError) -> Value {
        try self.access { try $0.read(body) }
    }

    /// Runs one transaction. Its changes survive a crash of the program, but possibly not a power
    /// failure.
    func write<Value>(_ body: (Database) throws -> Value) throws(ChatClientError) -> Value {
        try self.access { try $0.write(body) }
    }

    /// Runs one transaction and syncs it to disk, so that it survives a power failure.
    func writeDurably(_ body: (Database) throws -> Void) throws(ChatClientError) {
        try self.access { opened in
            try opened.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                defer { try? database.execute(sql: "PRAGMA synchronous = NORMAL") }
                try database.inTransaction {
                    try body(database)
                    return .commit
                }
            }
        }
    }

    private func access<Value>(_ body: (DatabaseQueue) throws -> Value) throws(ChatClientError) -> Value {
        do {
            return try self.opened.withLockedValue { opened in
                guard let opened else { throw ChatClientError.closed }
                return try body(opened)
            }
        } catch {
            throw Self.wrapped(error)
        }
    }

    static func wrapped(_ error: any Error) -> ChatClientError {
        (error as? ChatClientError) ?? ChatClientError(.store, message: "the local store failed: \(error)")
    }
}
