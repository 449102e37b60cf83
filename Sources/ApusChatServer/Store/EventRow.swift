import ApusChatProtocol
import ApusJSON
import GRDB

/// Reads and writes rows of the table `event`.
enum EventRow {
    static let columns = "conversation, seq, n, sender, client_id, at, kind, ref, body"

    static func event(_ row: Row) throws -> ChatEvent {
        let body: String = row["body"]
        return ChatEvent(
            conv: ConversationID(unchecked: row["conversation"]), seq: row["seq"], n: row["n"], sender: UserID(unchecked: row["sender"]),
            id: ClientID(unchecked: row["client_id"]), at: row["at"], kind: ChatEventKind(rawValue: row["kind"]), ref: row["ref"],
            body: try JSONReader.read(body))
    }

    static func insert(_ event: ChatEvent, body: String, _ db: Database) throws {
        try db.cachedStatement(sql: "INSERT INTO event (\(self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
            .execute(arguments: [
                event.conv.rawValue, event.seq, event.n, event.sender.rawValue, event.id.rawValue, event.at, event.kind.rawValue, event.ref,
                body,
            ])
    }
}
