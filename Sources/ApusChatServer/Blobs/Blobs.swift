import ApusChatProtocol
import GRDB

/// Reads and writes the properties, owners and references of blobs.
enum Blobs {
    /// Checks the quota before the bytes of an upload are stored. A repeated upload by the same
    /// user is free.
    /// - Throws: `too_large` if the upload exceeds the user's quota.
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
            throw ChatError(.tooLarge, message: "this upload exceeds your quota of \(quota) bytes for all uploads")
        }
    }

    /// Inserts an upload whose bytes are stored.
    /// - Throws: `too_large` if the upload exceeds the user's quota.
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

    /// Returns a blob that the user may read: an own upload, or one that a visible event refers to
    /// (docs/chat-rules.md, 8).
    /// - Throws: `not_found` otherwise, whether or not the blob exists.
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
        else { throw ChatError(.notFound, message: "the blob does not exist, or you may not read it") }
        return BlobReply(blob: blob, size: row["size"], type: row["type"], width: row["width"], height: row["height"])
    }

    /// Returns the body of an image message with the server's measurements.
    static func measured(_ image: ChatImageBody, for user: UserID, _ db: Database) throws -> ChatImageBody {
        let blob = try self.readable(image.blob, by: user, db)
        guard let width = blob.width, let height = blob.height else {
            throw ChatError(.badRequest, message: "`body.blob` must be a picture")
        }
        return ChatImageBody(blob: image.blob, width: width, height: height, size: blob.size, type: blob.type, text: image.text)
    }

    /// Records that an event refers to a blob, which makes it readable for the members.
    static func refer(_ blob: BlobID, from event: ChatEvent, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO blob_ref (blob, conversation, seq) VALUES (?, ?, ?)",
            arguments: [blob.rawValue, event.conv.rawValue, event.seq])
    }
}
