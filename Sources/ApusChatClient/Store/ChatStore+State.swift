package import ApusChatCore
import ApusChatProtocol
import GRDB

/// The account to which a store belongs, with its tokens.
struct StoredAccount: Hashable, Sendable {
    var server: String
    var user: UserName
    var device: DeviceID
    var access: String
    var accessExpiresAt: Int64
    var refresh: String
}

extension ChatStore {
    enum Key: String { case server, user, device, access, accessExpiresAt, refresh, token, epoch, own }

    // MARK: Account

    func account() throws(ChatClientError) -> StoredAccount? {
        try self.read { database in
            guard let server = try Self.value(.server, database),
                let user = try Self.value(.user, database).flatMap({ UserName($0) }),
                let device = try Self.value(.device, database).flatMap({ DeviceID($0) }),
                let refresh = try Self.value(.refresh, database)
            else { return nil }
            return StoredAccount(
                server: server, user: user, device: device, access: try Self.value(.access, database) ?? "",
                accessExpiresAt: try Self.value(.accessExpiresAt, database).flatMap { Int64($0) } ?? 0, refresh: refresh)
        }
    }

    /// Stores the account and its tokens. Throws if the store belongs to another account, so that a
    /// file never contains the history of two users. The write is synced to disk, because a refresh
    /// token can be used once.
    func save(_ account: StoredAccount) throws(ChatClientError) {
        if let owner = try self.account(), owner.user != account.user || owner.server != account.server {
            throw ChatClientError(
                .wrongStore,
                message: "the store belongs to \(owner.user) at \(owner.server); use another store for \(account.user) at \(account.server)"
            )
        }
        try self.writeDurably { database in
            try Self.set(.server, account.server, database)
            try Self.set(.user, account.user.rawValue, database)
            try Self.set(.device, account.device.rawValue, database)
            try Self.set(.access, account.access, database)
            try Self.set(.accessExpiresAt, String(account.accessExpiresAt), database)
            try Self.set(.refresh, account.refresh, database)
        }
    }

    // MARK: Start

    /// Reads the state that the state machines keep in memory, with five statements.
    package func restored() throws(ChatClientError) -> ClientCore.Restored {
        try self.read { database in
            var restored = ClientCore.Restored()
            for row in try Row.fetchAll(database, sql: "SELECT value, unsent_read FROM head") {
                let head: ChatHead = try StoredText.read(row["value"])
                restored.heads.append(head)
                if let read = row["unsent_read"] as Int64? { restored.reads[head.conversation] = read }
            }
            for row in try Row.fetchAll(database, sql: "SELECT conversation, seq FROM cursor") {
                restored.cursors[ConversationID(number: row["conversation"])] = row["seq"]
            }
            let unsent = try Row.fetchAll(
                database, sql: "SELECT id, conversation, state, type FROM outbox WHERE state <> ? ORDER BY position",
                arguments: [OutboxEntry.State.refused.rawValue])
            for row in unsent {
                guard let id = ClientID(row["id"] as String) else { continue }
                let state = OutboxEntry.State(rawValue: row["state"]) ?? .queued
                restored.unsent.append((id, ConversationID(number: row["conversation"]), state == .uploading))
                if state == .sent { restored.acknowledged.insert(id) }
                if state == .queued, row["type"] != nil { restored.uploaded.insert(id) }
            }
            restored.epoch = try Self.value(.epoch, database).flatMap { PageToken($0) }
            restored.token = try Self.value(.token, database).flatMap { PageToken($0) }
            return restored
        }
    }

    // MARK: Drafts

    /// Stores a draft, which is sent when the user pauses or leaves the conversation.
    func save(draft: Draft, in conversation: ConversationID) throws(ChatClientError) {
        try self.write {
            try $0.execute(
                sql: "INSERT OR REPLACE INTO draft VALUES (?, ?, ?, ?, 0)",
                arguments: [conversation.number, draft.text, draft.ref, draft.at])
        }
    }

    func draft(in conversation: ConversationID) throws(ChatClientError) -> Draft? {
        try self.read { database in
            try Row.fetchOne(database, sql: "SELECT text, ref, at FROM draft WHERE conversation = ?", arguments: [conversation.number]).map
            {
                Draft(text: $0["text"], ref: $0["ref"], at: $0["at"])
            }
        }
    }

    /// Returns whether the server has stored a draft of this device.
    func hasSentDraft(in conversation: ConversationID) throws(ChatClientError) -> Bool {
        try self.read {
            try Bool.fetchOne($0, sql: "SELECT sent FROM draft WHERE conversation = ?", arguments: [conversation.number]) ?? false
        }
    }

    func unsentDrafts() throws(ChatClientError) -> [(ConversationID, Draft)] {
        try self.read { database in
            try Row.fetchAll(database, sql: "SELECT conversation, text, ref, at FROM draft WHERE sent = 0").map { row in
                (ConversationID(number: row["conversation"]), Draft(text: row["text"], ref: row["ref"], at: row["at"]))
            }
        }
    }

    /// Records that the server has stored a draft, unless the draft was changed since then.
    func sentDraft(_ draft: Draft, in conversation: ConversationID) throws(ChatClientError) {
        try self.write {
            try $0.execute(
                sql: "UPDATE draft SET sent = 1 WHERE conversation = ? AND at = ? AND text = ?",
                arguments: [conversation.number, draft.at, draft.text])
            try $0.execute(sql: "DELETE FROM draft WHERE conversation = ? AND sent = 1 AND text = ''", arguments: [conversation.number])
        }
    }

    // MARK: Values

    static func value(_ key: Key, _ database: Database) throws -> String? {
        try String.fetchOne(database, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key.rawValue])
    }

    static func set(_ key: Key, _ value: String?, _ database: Database) throws {
        if let value {
            try database.execute(
                sql: "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", arguments: [key.rawValue, value])
        } else {
            try database.execute(sql: "DELETE FROM meta WHERE key = ?", arguments: [key.rawValue])
        }
    }
}
