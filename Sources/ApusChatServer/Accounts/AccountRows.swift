import ApusChatProtocol
import Foundation
import GRDB

/// Reads and writes users and devices. Each function runs inside the caller's transaction.
enum AccountRows {
    /// The user and device that a token identifies.
    struct Identity: Hashable, Sendable {
        var user: UserID
        var device: String
        var expiresAt: Int64
    }

    /// - Throws: `name_taken` if the name exists.
    static func insertUser(_ id: UserID, name: UserName, display: String, password: PasswordHash, at now: Int64, _ db: Database) throws
        -> ChatUser
    {
        guard try Int.fetchOne(db, sql: "SELECT 1 FROM user WHERE folded = ?", arguments: [name.folded]) == nil else {
            throw ChatError(.nameTaken, message: "the name \(name) is taken; choose another")
        }
        try db.execute(
            sql: "INSERT INTO user (id, name, folded, display, display_folded, password, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [id.rawValue, name.rawValue, name.folded, display, UserSearch.folded(display), password.text, now])
        return ChatUser(id: id, name: name.rawValue, display: display)
    }

    /// Returns the user with a name, and the hash of the password.
    static func find(_ name: UserName, _ db: Database) throws -> (user: ChatUser, password: PasswordHash)? {
        try Row.fetchOne(db, sql: "SELECT id, name, display, password FROM user WHERE folded = ?", arguments: [name.folded])
            .map { (Users.user($0), PasswordHash(stored: $0["password"])) }
    }

    /// Inserts a device. Deletes expired devices, which bounds the table.
    static func insertDevice(
        _ id: String, of user: UserID, label: String, token: String, at now: Int64, expiresAt: Int64, _ db: Database
    ) throws {
        try db.execute(sql: "DELETE FROM device WHERE expires_at <= ?", arguments: [now])
        try db.execute(
            sql: "INSERT INTO device (id, user, label, token_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [id, user.rawValue, label, Secrets.tokenHash(token), now, expiresAt])
    }

    /// Returns the identity of a token; nil when the token is unknown, revoked or expired.
    static func identity(token: String, at now: Int64, _ db: Database) throws -> Identity? {
        try Row.fetchOne(
            db.cachedStatement(sql: "SELECT id, user, expires_at FROM device WHERE token_hash = ? AND expires_at > ?"),
            arguments: [Secrets.tokenHash(token), now]
        ).map { Identity(user: UserID(unchecked: $0["user"]), device: $0["id"], expiresAt: $0["expires_at"]) }
    }

    /// Returns whether a device is still signed in.
    static func isSignedIn(_ device: String, at now: Int64, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM device WHERE id = ? AND expires_at > ?)"), arguments: [device, now])
            ?? false
    }

    static func deleteDevice(_ id: String, _ db: Database) throws {
        try db.execute(sql: "DELETE FROM device WHERE id = ?", arguments: [id])
    }
}
