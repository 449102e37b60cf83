package import ApusChatProtocol
import ApusJSON
import GRDB

/// A message of the user that is not in the stored log.
package struct OutboxEntry: Hashable, Sendable {
    package enum State: String, Sendable { case queued, uploading, refused, sent }

    /// The request as it is sent. Its body has no valid blob until the upload of the file is
    /// complete.
    package var request: SendRequest
    /// The time at which the message was written, in milliseconds since 1970.
    var at: Int64
    var state: State = .queued
    var error: ChatError?
    var seq: Int64?
    var n: Int64?
    /// The file of the message. It remains after the upload, because a restored server may lack it.
    var upload: OutboxUpload?
    /// The messages that the request referred to before the server's data was replaced; nil if its
    /// references are those of the present data.
    var cited: OutboxCitations?

    package init(
        request: SendRequest, at: Int64, state: State = .queued, error: ChatError? = nil, seq: Int64? = nil, n: Int64? = nil,
        upload: OutboxUpload? = nil
    ) {
        self.request = request
        self.at = at
        self.state = state
        self.error = error
        self.seq = seq
        self.n = n
        self.upload = upload
    }

    var id: ClientID { self.request.id }
    var conversation: ConversationID { self.request.conversation }

    /// The blob in the body of a message whose file was never uploaded.
    static let missingBlob = String(repeating: "0", count: 64)
    /// The blob of the file; nil if the file was never uploaded.
    var blob: String? { self.request.body["blob"]?.stringValue.flatMap { $0 == Self.missingBlob ? nil : $0 } }
}

/// The identities of the messages to which an unsent message refers (`ChatEvent.identity`); nil
/// without a reference, and if the stored log did not contain the message.
package struct OutboxCitations: Hashable, Sendable {
    var ref: String?
    var thread: String?
}

extension ChatEvent {
    /// A text that distinguishes the event from other events at its position. The store computes
    /// the same text in SQL.
    var identity: String { "\(self.id?.rawValue ?? String(self.at)) \(self.sender?.rawValue ?? "")" }
}

/// The file of an unsent message.
package struct OutboxUpload: Hashable, Sendable {
    /// The path of the file. The file must exist until the upload is complete. If it still exists
    /// when a restored server lacks the file, it is uploaded again.
    var file: String
    var type: String
    var size: Int64
    /// The path of the upload on the server, which is required to resume it; nil before the upload
    /// is created.
    var location: String?
}

extension ChatStore {
    /// Stores an unsent message and syncs it to disk. No other step of sending a message waits for
    /// the disk.
    ///
    /// - Parameters:
    ///   - entry: The message.
    ///   - removal: The empty draft that replaces the draft of the conversation until the server
    ///     has removed it; nil if the server has no draft.
    package func enqueue(_ entry: OutboxEntry, draft removal: Draft? = nil) throws(ChatClientError) {
        try self.writeDurably { database in
            try database.execute(
                sql: "INSERT INTO outbox (id, conversation, value, at, state, file, type, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    entry.id.rawValue, entry.conversation.number, try StoredText.write(entry.request), entry.at, entry.state.rawValue,
                    entry.upload?.file, entry.upload?.type, entry.upload?.size,
                ])
            try database.execute(sql: "DELETE FROM draft WHERE conversation = ?", arguments: [entry.conversation.number])
            if let removal {
                try database.execute(
                    sql: "INSERT INTO draft VALUES (?, ?, ?, ?, 0)",
                    arguments: [entry.conversation.number, removal.text, removal.ref, removal.at])
            }
        }
    }

    func entry(_ id: ClientID) throws(ChatClientError) -> OutboxEntry? {
        try self.read { try Self.entries("id = ?", [id.rawValue], $0).first }
    }

    /// Stores the path of an upload on the server, which is required to resume it after a restart.
    func setLocation(_ location: String?, of id: ClientID) throws(ChatClientError) {
        try self.write { try $0.execute(sql: "UPDATE outbox SET location = ? WHERE id = ?", arguments: [location, id.rawValue]) }
    }

    /// Replaces the request of a message with the request that contains its blob. Each attempt to
    /// send the message uses this request.
    func uploaded(_ request: SendRequest) throws(ChatClientError) {
        try self.write {
            try $0.execute(
                sql: "UPDATE outbox SET value = ?, state = ?, location = NULL WHERE id = ?",
                arguments: [try StoredText.write(request), OutboxEntry.State.queued.rawValue, request.id.rawValue])
        }
    }

    /// Makes the message wait for another upload of its file.
    func uploadAgain(_ id: ClientID) throws(ChatClientError) {
        try self.write {
            try $0.execute(sql: "UPDATE outbox SET state = ? WHERE id = ?", arguments: [OutboxEntry.State.uploading.rawValue, id.rawValue])
        }
    }

    /// Replaces the request of a message with one whose references are those of the present data.
    func verified(_ request: SendRequest) throws(ChatClientError) {
        try self.write {
            try $0.execute(
                sql: "UPDATE outbox SET value = ?, unverified = 0, cited_ref = NULL, cited_thread = NULL WHERE id = ?",
                arguments: [try StoredText.write(request), request.id.rawValue])
        }
    }

    /// Queues a refused message again under a new id, because the server repeats its refusal for
    /// the old id.
    func requeue(_ id: ClientID, as new: ClientID, at: Int64) throws(ChatClientError) -> OutboxEntry? {
        try self.write { database in
            guard var entry = try Self.entries("id = ?", [id.rawValue], database).first, entry.state == .refused else { return nil }
            entry.request.id = new
            entry.at = at
            entry.error = nil
            entry.state = entry.upload == nil || entry.blob != nil ? .queued : .uploading
            try database.execute(
                sql: "UPDATE outbox SET id = ?, value = ?, at = ?, state = ?, error = NULL WHERE id = ?",
                arguments: [new.rawValue, try StoredText.write(entry.request), at, entry.state.rawValue, id.rawValue])
            return entry
        }
    }

    func discard(_ id: ClientID) throws(ChatClientError) {
        try self.write { try $0.execute(sql: "DELETE FROM outbox WHERE id = ?", arguments: [id.rawValue]) }
    }

    static func acknowledge(_ id: ClientID, _ answer: SendAnswer, _ database: Database) throws {
        let isInLog = try Bool.fetchOne(
            database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM event WHERE conversation = ? AND seq = ?)"),
            arguments: [answer.conversation.number, answer.seq])
        if isInLog == true {
            try database.cachedStatement(sql: "DELETE FROM outbox WHERE id = ?").execute(arguments: [id.rawValue])
        } else {
            // The entry is shown until the log contains the message.
            try database.cachedStatement(sql: "UPDATE outbox SET state = ?, seq = ?, n = ?, at = ? WHERE id = ?")
                .execute(arguments: [OutboxEntry.State.sent.rawValue, answer.seq, answer.n, answer.at, id.rawValue])
        }
    }

    static func entries(_ condition: String, _ arguments: StatementArguments, _ database: Database) throws -> [OutboxEntry] {
        try Row.fetchAll(database, sql: "SELECT * FROM outbox WHERE \(condition) ORDER BY position", arguments: arguments).map { row in
            var entry = OutboxEntry(
                request: try StoredText.read(row["value"]), at: row["at"], state: OutboxEntry.State(rawValue: row["state"]) ?? .queued)
            entry.error = try (row["error"] as String?).map { try StoredText.read($0) }
            entry.seq = row["seq"]
            entry.n = row["n"]
            if row["unverified"] == 1 { entry.cited = OutboxCitations(ref: row["cited_ref"], thread: row["cited_thread"]) }
            if let file = row["file"] as String? {
                entry.upload = OutboxUpload(
                    file: file, type: row["type"] ?? "application/octet-stream", size: row["size"] ?? 0, location: row["location"])
            }
            return entry
        }
    }
}
