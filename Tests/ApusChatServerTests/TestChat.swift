import ApusChatProtocol
import ApusJSON
import GRDB
import Testing

@testable import ApusChatServer

/// An in-memory database with some users, and short forms of its operations. The test passes the
/// time.
struct TestChat {
    let db: DatabaseQueue
    let alice = UserID(unchecked: "alice")
    let bobby = UserID(unchecked: "bobby")
    let carol = UserID(unchecked: "carol")

    init() throws {
        self.db = try DatabaseQueue()
        try ChatSchema.migrate(self.db)
        let users = [self.alice, self.bobby, self.carol]
        try self.db.write { db in
            for user in users {
                let name = try #require(UserName(user.rawValue))
                _ = try AccountRows.insertUser(
                    user, name: name, display: "The " + user.rawValue, password: PasswordHash(stored: "x"), at: 1, db)
            }
        }
    }

    /// The pair conversation of alice and bobby.
    func pair() throws -> ConversationID {
        let (alice, bobby) = (self.alice, self.bobby)
        return try self.db.write { db in try Conversations.open(with: bobby, by: alice, newID: "pair", at: 10, db).head.conv }
    }

    func request(_ text: String, id: String, in conv: ConversationID, ref: Int64? = nil) -> SendRequest {
        SendRequest(conv: conv, id: ClientID(unchecked: id), kind: .text, body: ["text": .string(text)], ref: ref)
    }

    @discardableResult
    func send(_ text: String, id: String, in conv: ConversationID, from user: UserID, ref: Int64? = nil, at now: Int64 = 100) throws
        -> ChatLog.Sent
    {
        let request = self.request(text, id: id, in: conv, ref: ref)
        return try self.db.write { db in try ChatLog.send(request, from: user, at: now, db) }
    }

    func mark(_ read: Int64, in conv: ConversationID, by user: UserID, at now: Int64 = 200) throws -> ChatLog.Marked {
        try self.db.write { db in try ChatLog.mark(MarkRequest(conv: conv, read: read), by: user, at: now, db) }
    }

    func head(_ conv: ConversationID, for user: UserID) throws -> ChatHead {
        try self.db.read { db in try Conversations.head(conv, for: user, db) }
    }

    func events(_ request: SyncRequest, for user: UserID) throws -> EventsReply {
        try self.db.read { db in try ChatLog.events(request, for: user, db) }
    }

    /// Returns the code of the `ChatError` that `body` throws.
    func code(_ body: () throws -> Void) -> ChatError.Code? {
        do {
            try body()
            return nil
        } catch let error as ChatError {
            return error.code
        } catch {
            return .internal
        }
    }
}
