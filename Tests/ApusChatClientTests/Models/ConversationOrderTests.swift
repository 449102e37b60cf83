import ApusChatProtocol
import Testing

@testable import ApusChatClient

/// The order, the sections and the badge of the list of conversations.
@MainActor @Suite("Order of conversations", .timeLimit(.minutes(5)))
struct ConversationOrderTests {
    let server = FakeServer()
    let device: TestDevice
    /// The conversations of the tests. The server has their heads, but no logs.
    private let ids = (1...6).map { ConversationID(number: 100 + Int64($0)) }
    private nonisolated static let now = ChatEnvironment.test.now()

    init() throws {
        self.server.user(Value.alice)
        self.server.user(Value.bob)
        self.device = try TestDevice(self.server)
    }

    private func head(
        _ index: Int, at: Int64, kind: ConversationKind = .group, unread: Int64 = 0, _ configure: (inout ChatHead) -> Void = { _ in }
    ) -> ChatHead {
        var head = ChatHead(
            conversation: self.ids[index], kind: kind, title: "T\(index)", members: 2, seq: 5, n: 5, read: 5 - unread, unread: unread,
            at: at)
        configure(&head)
        return head
    }

    /// Runs `body` with a list that shows these heads.
    private func with(_ heads: [ChatHead], _ body: (ConversationListModel) async throws -> Void) async throws {
        let client = try await self.device.signIn()
        try await client.isOnline()
        let list = ConversationListModel(client: client)
        await list.start()
        self.server.push("head", HeadPush(heads: heads).json)
        // No section shows a banned conversation.
        let wanted = Set(heads.filter { $0.state != .banned }.map(\.conversation))
        try await eventually { await wanted.isSubset(of: client.heads.map(\.conversation)) }
        // The client has the heads before the list shows them.
        try await eventually { list.known.isSuperset(of: wanted) }
        let result: Result<Void, any Error>
        do { result = .success(try await body(list)) } catch { result = .failure(error) }
        await client.close()
        self.device.remove()
        try result.get()
    }

    private func shown(_ list: ConversationListModel) -> [Int] {
        list.conversations.compactMap { head in self.ids.firstIndex(of: head.conversation) }
    }

    @Test func pinnedOnesComeFirstInTheOrderOfPinningThenTheNewest() async throws {
        let heads = [
            self.head(0, at: 10), self.head(1, at: 30), self.head(2, at: 1) { $0.own.pinnedAt = 8 },
            self.head(3, at: 99) { $0.own.pinnedAt = 9 }, self.head(4, at: 20), self.head(5, at: 20),
        ]
        try await self.with(heads) { list in
            #expect(self.shown(list) == [2, 3, 1, 4, 5, 0])
            // A new message moves a conversation up, and a pinned one keeps its place.
            self.server.push("head", HeadPush(heads: [self.head(0, at: 40), self.head(2, at: 41) { $0.own.pinnedAt = 8 }]).json)
            try await eventually { self.shown(list) == [2, 3, 0, 1, 4, 5] }
            self.server.push("head", HeadPush(heads: [self.head(2, at: 41)]).json)
            try await eventually { self.shown(list) == [3, 2, 0, 1, 4, 5] }
            self.server.push("head", HeadPush(gone: [self.ids[3], self.ids[1]]).json)
            try await eventually { self.shown(list) == [2, 0, 4, 5] }
        }
    }

    @Test func filtersShowTheirConversations() async throws {
        let heads = [
            self.head(0, at: 60, kind: .pair), self.head(1, at: 50, unread: 2),
            self.head(2, at: 40, kind: .channel) { $0.own.folders = ["Work"] },
            self.head(3, at: 30, kind: .pair, unread: 1) { ($0.own.isArchived, $0.own.folders) = (true, ["Work"]) },
            self.head(4, at: 20, kind: .pair) { $0.own.isMarkedUnread = true }, self.head(5, at: 10) { $0.state = .left },
        ]
        try await self.with(heads) { list in
            let expected: [(ConversationListModel.Filter, [Int])] = [
                (.all, [0, 1, 2, 4, 5]), (.unread, [1, 4]), (.people, [0, 4]), (.groups, [1, 2, 5]), (.archived, [3]),
                (.folder("Work"), [2, 3]), (.folder("None"), []),
            ]
            for (filter, indexes) in expected {
                list.filter = filter
                #expect(self.shown(list) == indexes, "\(filter)")
            }
        }
    }

    @Test func theBadgeOmitsMutedAndArchivedConversations() async throws {
        let heads = [
            self.head(0, at: 6, unread: 1), self.head(1, at: 5, unread: 2) { $0.own.mutedUntil = Self.now + 1_000 },
            self.head(2, at: 4, unread: 3) { $0.own.isArchived = true }, self.head(3, at: 3, unread: 4) { $0.own.mutedUntil = Self.now },
            self.head(4, at: 2, unread: 5) { $0.state = .banned }, self.head(5, at: 1) { $0.own.isMarkedUnread = true },
        ]
        try await self.with(heads) { list in
            try await eventually { list.badge == 5 }
            list.filter = .people
            #expect(list.badge == 5, "the badge does not depend on the filter")
            self.server.push("head", HeadPush(heads: [self.head(0, at: 6)]).json)
            try await eventually { list.badge == 4 }
        }
    }

    @Test func invitationsAndRequestsAreApart() async throws {
        let heads = [
            self.head(0, at: 10, unread: 3) { $0.state = .invited }, self.head(1, at: 30) { $0.state = .requested }, self.head(2, at: 20),
            self.head(3, at: 5) { $0.state = .banned }, self.head(4, at: 40) { $0.state = .removed },
        ]
        try await self.with(heads) { list in
            #expect(self.shown(list) == [4, 2])
            #expect(list.invitations.map(\.conversation) == [self.ids[1], self.ids[0]] && list.badge == 0)
            self.server.push("head", HeadPush(heads: [self.head(0, at: 50)]).json)
            try await eventually { self.shown(list) == [0, 4, 2] && list.invitations.count == 1 }
        }
    }

    @Test func titlesMatchTheKind() async throws {
        let heads = [
            self.head(0, at: 6),
            self.head(1, at: 5, kind: .pair) { ($0.title, $0.peer) = (nil, ChatUser(name: Value.bob, nick: "Bob B.")) },
            self.head(2, at: 4, kind: .pair) { ($0.title, $0.peer) = (nil, ChatUser(name: Value.name("carol"))) },
            self.head(3, at: 3, kind: .own) { $0.title = nil },
        ]
        try await self.with(heads) { list in
            #expect(heads.map { list.title(of: $0) } == ["T0", "Bob B.", "carol", "alice"])
        }
    }
}

extension ConversationListModel {
    /// The conversations that the list has received, in any section.
    fileprivate var known: Set<ConversationID> {
        let before = self.filter
        defer { self.filter = before }
        self.filter = .all
        let shown = self.conversations + self.invitations
        self.filter = .archived
        return Set((shown + self.conversations).map(\.conversation))
    }
}
