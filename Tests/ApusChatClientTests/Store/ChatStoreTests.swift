import ApusChatProtocol
import ApusJSON
import Foundation
import GRDB
import Testing

@testable import ApusChatClient

@Suite struct ChatStoreTests {
    private func event(_ seq: Int64, by sender: ChatUser = bobby, id: String? = nil) -> ChatEvent {
        ChatEvent(
            conv: pair, seq: seq, n: seq, sender: sender.id, id: ClientID(unchecked: id ?? "i\(seq)"), at: seq, kind: .text,
            body: ChatBody.text(.init(text: "m\(seq)")).value)
    }

    private func session(_ user: ChatUser = alice, _ server: String = "http://localhost") -> ChatSession {
        ChatSession(server: server, user: user, token: "secret", device: "d", expires: 1)
    }

    private func head(seq: Int64, read: Int64 = 0, unread: Int64? = nil) -> ChatHead {
        ChatHead(
            conv: pair, kind: .pair,
            members: [ChatMember(user: alice.id, role: .member, read: read), ChatMember(user: bobby.id, role: .member, read: 0)],
            seq: seq, n: seq, read: read, unread: unread ?? seq - read, minSeq: 1, updatedAt: 1, last: nil)
    }

    @Test func fileIsPrivateDurableAndInWAL() async throws {
        try await withTemporaryStore { path in
            let store = try ChatStore(path: path)
            try store.bind(to: self.session())
            let (journal, synchronous) = try store.read { database in
                (try String.fetchOne(database, sql: "PRAGMA journal_mode"), try Int.fetchOne(database, sql: "PRAGMA synchronous"))
            }
            #expect(journal == "wal")
            #expect(synchronous == 2)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            store.close()
            #expect(try ChatClient.storedSession(store: path) == self.session())
        }
    }

    @Test func storeOfAnotherUserIsRefused() throws {
        let store = try ChatStore(path: ":memory:")
        try store.bind(to: self.session())
        try store.bind(to: self.session())
        #expect(throws: ChatClientError.self) { try store.bind(to: self.session(bobby)) }
        #expect(throws: ChatClientError.self) { try store.bind(to: self.session(alice, "http://elsewhere")) }
        #expect(!"\(self.session())".contains("secret"))
    }

    @Test func storeOfANewerReleaseIsRefused() async throws {
        try await withTemporaryStore { path in
            let store = try ChatStore(path: path)
            try store.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('999')") }
            store.close()
            let error = #expect(throws: ChatClientError.self) { try ChatStore(path: path) }
            #expect(error?.code == .wrongStore)
        }
    }

    @Test func folderThatIsNotThereIsSaid() {
        let error = #expect(throws: ChatClientError.self) { try ChatStore(path: "/nowhere/at/all.sqlite") }
        #expect(error?.code == .store)
    }

    @Test func countersNeverGoBack() throws {
        let store = try ChatStore(path: ":memory:")
        try store.save(heads: [self.head(seq: 9, read: 5)], synchronizedAt: 77)
        try store.save(heads: [self.head(seq: 3, read: 2)])
        #expect(try store.lastSync() == 77)
        let info = try store.conversation(pair, of: alice.id)
        #expect(info?.lastSeq == 9)
        #expect(info?.read == 5)
        #expect(info?.unread == 4)
    }

    @Test(arguments: [
        (lastNumber: Int64.max, read: Int64.min, unread: Int64.max), (.min, .max, 0), (.max, -1, .max), (.max, 0, .max), (0, .max, 0),
        (.min, 0, 0), (5, 3, 2), (3, 5, 0),
    ])
    func unreadIsANumberWhateverTheServerSaid(lastNumber: Int64, read: Int64, unread: Int64) {
        let info = ChatConversationInfo(
            id: pair, kind: .pair, members: [], name: "", lastSeq: 0, lastNumber: lastNumber, read: read, updatedAt: 0)
        #expect(info.unread == unread)
    }

    @Test func aReadMarkOfTheServerBeyondTheLastMessageHidesNothing() throws {
        let store = try ChatStore(path: ":memory:")
        try store.save(heads: [self.head(seq: 3, read: .max, unread: .max)])
        #expect(try store.conversation(pair, of: alice.id)?.read == 3)
        try store.save(heads: [self.head(seq: 4, read: 3)])
        #expect(try store.conversation(pair, of: alice.id)?.unread == 1)
    }

    @Test func floorOfALateMemberCountsAsRead() throws {
        let store = try ChatStore(path: ":memory:")
        try store.save(heads: [self.head(seq: 100, read: 0, unread: 3)])
        #expect(try store.conversation(pair, of: alice.id)?.unread == 3)
    }

    @Test func markBeyondTheLastMessageHidesNothing() throws {
        let store = try ChatStore(path: ":memory:")
        try store.save(heads: [self.head(seq: 3)])
        try store.setRead(.max, by: alice.id, in: pair, isMine: true)
        #expect(try store.conversation(pair, of: alice.id)?.read == 3)
    }

    @Test func cursorAndEventsComeTogether() throws {
        let store = try ChatStore(path: ":memory:")
        try store.save(heads: [self.head(seq: 2)])
        #expect(try store.position(of: pair) == .init(cursor: 0, head: 2, isPrimed: false))
        try store.apply([self.event(1), self.event(2)], gap: nil, cursor: 2, in: pair, me: alice.id)
        #expect(try store.position(of: pair) == .init(cursor: 2, head: 2, isPrimed: true))
        #expect(try store.history(of: pair, me: alice.id, before: nil, limit: 10).count == 2)
        #expect(try store.history(of: pair, me: alice.id, before: 2, limit: 10).count == 1)
        #expect(try store.history(of: pair, me: alice.id, before: nil, limit: 1).count == 1)
    }

    @Test func acknowledgedMessageIsShownUntilTheLogReachesIt() throws {
        let store = try ChatStore(path: ":memory:")
        try store.save(heads: [self.head(seq: 0)])
        try store.enqueue(OutboxEntry(id: ClientID(unchecked: "x"), conversation: pair, kind: .text, body: ["text": "mine"], at: 1))
        #expect(try store.queued().count == 1)
        try store.acknowledged(SendReply(conv: pair, id: ClientID(unchecked: "x"), seq: 2, n: 2, at: 5))
        #expect(try store.queued().isEmpty)
        #expect(try store.history(of: pair, me: alice.id, before: nil, limit: 10).count == 1)
        try store.apply([self.event(1), self.event(2, by: alice, id: "x")], gap: nil, cursor: 2, in: pair, me: alice.id)
        #expect(try store.history(of: pair, me: alice.id, before: nil, limit: 10).count == 2)
        #expect(try store.entry(ClientID(unchecked: "x")) == nil)
    }
}
