import ApusChatProtocol
import ApusJSON
import Foundation
import GRDB

extension ChatStore {
    /// Stores an outgoing message, which is durable when this method returns.
    func enqueue(_ entry: OutboxEntry, attachment: [UInt8]? = nil) throws(ChatClientError) {
        try self.write { database in
            try database.execute(
                sql: """
                    INSERT INTO outbox (client_id, conversation, kind, body, ref, at, state, attachment_type, attachment)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    entry.id.rawValue, entry.conversation.rawValue, entry.kind.rawValue, try entry.body.jsonString(), entry.ref, entry.at,
                    entry.state.rawValue, entry.attachmentType, attachment.map { Data($0) },
                ])
        }
    }

    /// Returns the queued messages in the order in which they were written.
    func queued() throws(ChatClientError) -> [OutboxEntry] {
        try self.read { try Self.entries("state = ?", [DeliveryState.queued.rawValue], $0) }
    }

    /// Returns a message of the outbox.
    func entry(_ id: ClientID) throws(ChatClientError) -> OutboxEntry? {
        try self.read { try Self.entries("client_id = ?", [id.rawValue], $0).first }
    }

    /// Returns a picture that is not uploaded yet.
    func attachment(of id: ClientID) throws(ChatClientError) -> [UInt8]? {
        try self.read {
            try Data.fetchOne(
                $0, sql: "SELECT attachment FROM outbox WHERE client_id = ? AND attachment IS NOT NULL", arguments: [id.rawValue])
        }.map { [UInt8]($0) }
    }

    /// Stores the final body after the upload. All later attempts to send use this body.
    func uploaded(_ id: ClientID, body: JSONValue) throws(ChatClientError) {
        try self.write {
            try $0.execute(
                sql: "UPDATE outbox SET body = ?, attachment = NULL, attachment_type = NULL WHERE client_id = ?",
                arguments: [try body.jsonString(), id.rawValue])
        }
    }

    /// Stores the acknowledgement. The entry remains visible until the log reaches it.
    func acknowledged(_ reply: SendReply) throws(ChatClientError) {
        try self.write {
            try $0.execute(
                sql: "UPDATE outbox SET state = ?, seq = ?, n = ?, at = ? WHERE client_id = ?",
                arguments: [DeliveryState.sent.rawValue, reply.seq, reply.n, reply.at, reply.id.rawValue])
        }
    }

    /// Stores a refusal. The message remains, with the reason.
    func refused(_ id: ClientID, reason: String) throws(ChatClientError) {
        try self.write {
            try $0.execute(
                sql: "UPDATE outbox SET state = ?, refusal = ? WHERE client_id = ? AND state = ?",
                arguments: [DeliveryState.refused.rawValue, reason, id.rawValue, DeliveryState.queued.rawValue])
        }
    }

    static func entries(_ condition: String, _ arguments: StatementArguments, _ database: Database) throws -> [OutboxEntry] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT client_id, conversation, kind, body, ref, at, state, refusal, seq, n, attachment_type FROM outbox
                WHERE \(condition) ORDER BY position
                """, arguments: arguments
        ).compactMap { row in
            guard let id = ClientID(row["client_id"] as String), let conversation = ConversationID(row["conversation"] as String),
                let state = DeliveryState(rawValue: row["state"])
            else { return nil }
            return OutboxEntry(
                id: id, conversation: conversation, kind: ChatEventKind(rawValue: row["kind"]),
                body: try JSONValue(jsonString: row["body"] as String), ref: row["ref"], at: row["at"], state: state,
                refusal: row["refusal"],
                seq: row["seq"], number: row["n"], attachmentType: row["attachment_type"])
        }
    }
}
