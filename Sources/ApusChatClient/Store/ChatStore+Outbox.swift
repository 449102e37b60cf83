import ApusChatProtocol
import ApusJSON
import Foundation
import GRDB

extension ChatStore {
    /// Stores a message that is to be sent. After this returns it survives a crash.
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

    /// What waits to be sent, in the order in which it was written.
    func queued() throws(ChatClientError) -> [OutboxEntry] {
        try self.read { try Self.entries("state = ?", [DeliveryState.queued.rawValue], $0) }
    }

    /// One message of the outbox.
    func entry(_ id: ClientID) throws(ChatClientError) -> OutboxEntry? {
        try self.read { try Self.entries("client_id = ?", [id.rawValue], $0).first }
    }

    /// The picture that is still to be uploaded.
    func attachment(of id: ClientID) throws(ChatClientError) -> [UInt8]? {
        try self.read {
            try Data.fetchOne(
                $0, sql: "SELECT attachment FROM outbox WHERE client_id = ? AND attachment IS NOT NULL", arguments: [id.rawValue])
        }.map { [UInt8]($0) }
    }

    /// The picture is on the server. From here on the message is sent with this body, in every repetition.
    func uploaded(_ id: ClientID, body: JSONValue) throws(ChatClientError) {
        try self.write {
            try $0.execute(
                sql: "UPDATE outbox SET body = ?, attachment = NULL, attachment_type = NULL WHERE client_id = ?",
                arguments: [try body.jsonString(), id.rawValue])
        }
    }

    /// The server has the message. The entry goes when the log reaches it, so that it is shown in between.
    func acknowledged(_ reply: SendReply) throws(ChatClientError) {
        try self.write {
            try $0.execute(
                sql: "UPDATE outbox SET state = ?, seq = ?, n = ?, at = ? WHERE client_id = ?",
                arguments: [DeliveryState.sent.rawValue, reply.seq, reply.n, reply.at, reply.id.rawValue])
        }
    }

    /// The server will not have the message. It stays, with the reason.
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
