import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

/// Checks that the types of `ApusChatProtocol` can read the changes that the core writes.
enum WireCheck {
    static func check(_ rows: [EventRow]) {
        // The tests write the bodies of messages, edits and drafts, which need not be valid.
        for row in rows where !row.isMessage && row.kind != EventKind(.selfDraft) && row.kind != .edit {
            do {
                let body = row.body.isEmpty ? [:] : try JSONReader.read(row.body).objectValue ?? [:]
                _ = try ChatChange(
                    reading: ChatEvent(
                        conversation: ConversationID(number: row.conversation.rawValue), seq: row.seq, n: nil, sender: nil, id: nil,
                        at: row.at, kind: row.kind, ref: row.ref == 0 ? nil : row.ref, body: body))
            } catch {
                Issue.record("a client cannot read the body of `\(row.kind)`: \(row.body): \(error)")
            }
        }
    }
}
