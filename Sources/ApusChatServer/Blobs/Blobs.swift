import ApusChatProtocol
import GRDB

/// Blobs in the database: what they are, who uploaded them, which events refer to them.
enum Blobs {
    /// Judges an upload before its bytes are kept. What the user has uploaded before costs nothing: it may be sent again when the answer was lost.
    /// - Throws: `too_large` when it does not fit into the user's quota.
    static func requireRoom(for reply: BlobReply, of user: UserID, quota: Int64, _ db: Database) throws {
        let used = try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT blob_bytes FROM user WHERE id = ?
                    AND NOT EXISTS (SELECT 1 FROM blob_owner WHERE blob_owner.blob = ? AND blob_owner.user = user.id)
                    """), arguments: [user.rawValue, reply.blob.rawValue])
        guard let used else { return }
        let (total, overflow) = used.addingReportingOverflow(Int64(reply.size))
        guard !overflow, total <= quota else {
            throw ChatError(.tooLarge, message: "your uploads may have \(quota) bytes in all, and this one does not fit in any more")
        }
    }

    /// Notes an upload. The bytes are on the disk already.
    /// - Throws: `too_large` when it does not fit into the user's quota, after all.
    static func insert(_ reply: BlobReply, by user: UserID, quota: Int64, at now: Int64, _ db: Database) throws {
        try self.requireRoom(for: reply, of: user, quota: quota, db)
        try db.execute(
            sql: "INSERT INTO blob (sha256, size, type, width, height, created_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            arguments: [reply.blob.rawValue, reply.size, reply.type, reply.width, reply.height, now])
        try db.execute(
            sql: "INSERT INTO blob_owner (blob, user) VALUES (?, ?) ON CONFLICT DO NOTHING",
            arguments: [reply.blob.rawValue, user.rawValue])
        guard db.changesCount > 0 else { return }
        try db.execute(sql: "UPDATE user SET blob_bytes = blob_bytes + ? WHERE id = ?", arguments: [reply.size, user.rawValue])
    }

    /// What a user may read: their own uploads, and what an event refers to that they may see (rule 8).
    /// - Throws: `not_found` otherwise, whether it exists or not.
    static func readable(_ blob: BlobID, by user: UserID, _ db: Database) throws -> BlobReply {
        guard
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT sha256, size, type, width, height FROM blob WHERE sha256 = ? AND (
                            EXISTS (SELECT 1 FROM blob_owner o WHERE o.blob = blob.sha256 AND o.user = ?)
                            OR EXISTS (
                                SELECT 1 FROM blob_ref r JOIN member m ON m.conversation = r.conversation
                                WHERE r.blob = blob.sha256 AND m.user = ? AND m.left_at IS NULL AND r.seq >= m.min_seq))
                        """), arguments: [blob.rawValue, user.rawValue, user.rawValue])
        else { throw ChatError(.notFound, message: "there is no such blob, or not for you") }
        return BlobReply(blob: blob, size: row["size"], type: row["type"], width: row["width"], height: row["height"])
    }

    /// The body of an image message with what the server measured itself, whatever the client said.
    static func measured(_ image: ChatImageBody, for user: UserID, _ db: Database) throws -> ChatImageBody {
        let blob = try self.readable(image.blob, by: user, db)
        guard let width = blob.width, let height = blob.height else { throw ChatError(.badRequest, message: "this blob is no picture") }
        return ChatImageBody(blob: image.blob, width: width, height: height, size: blob.size, type: blob.type, text: image.text)
    }

    /// Notes that an event refers to a blob: its members may read it from now on.
    static func refer(_ blob: BlobID, from event: ChatEvent, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO blob_ref (blob, conversation, seq) VALUES (?, ?, ?)",
            arguments: [blob.rawValue, event.conv.rawValue, event.seq])
    }
}
