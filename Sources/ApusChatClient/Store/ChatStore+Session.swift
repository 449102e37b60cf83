import ApusChatProtocol
import ApusJSON
import GRDB

extension ChatStore {
    private enum Key: String { case session, lastSync }

    /// Returns the session that the store was last opened with.
    func session() throws(ChatClientError) -> ChatSession? {
        guard let text = try self.value(.session) else { return nil }
        do {
            return try JSONValueDecoder().decode(ChatSession.self, from: JSONValue(jsonString: text))
        } catch {
            throw ChatClientError(.store, message: "the session in the store is damaged; log in again with a new store", cause: error)
        }
    }

    /// Binds the store to a user of a server, so that a file never contains the history of two
    /// users.
    func bind(to session: ChatSession) throws(ChatClientError) {
        if let owner = try self.session(), owner.user.id != session.user.id || owner.server != session.server {
            throw ChatClientError(.wrongStore, message: "this store belongs to \(owner); use another file for \(session)")
        }
        do {
            let text = try JSONValueEncoder().encode(session).jsonString()
            try self.set(.session, text)
        } catch let error as ChatClientError {
            throw error
        } catch {
            throw ChatClientError(.store, message: "cannot encode the session: \(error)", cause: error)
        }
    }

    /// Removes the token and keeps the history.
    func forgetToken() throws(ChatClientError) {
        guard var session = try self.session() else { return }
        session.token = ""
        try self.bind(to: session)
    }

    /// Returns the server's time of the last complete `sync`, in milliseconds.
    func lastSync() throws(ChatClientError) -> Int64? {
        try self.value(.lastSync).flatMap { Int64($0) }
    }

    static func setLastSync(_ at: Int64, _ database: Database) throws {
        try database.execute(
            sql: "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            arguments: [Key.lastSync.rawValue, String(at)])
    }

    private func value(_ key: Key) throws(ChatClientError) -> String? {
        try self.read { try String.fetchOne($0, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key.rawValue]) }
    }

    private func set(_ key: Key, _ value: String) throws(ChatClientError) {
        try self.write {
            try $0.execute(
                sql: "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", arguments: [key.rawValue, value])
        }
    }
}
