import ApusChatProtocol
import ApusChatService
import ApusJSON
import Testing

/// Calls of groups with a media server, and the limits of calls without one.
@Suite(.timeLimit(.minutes(2)))
struct CallBackendTests {
    /// A media server that records its rooms.
    private final class Backend: CallBackend {
        let kind = "livekit"
        let log: AsyncStream<String>
        private let continuation: AsyncStream<String>.Continuation

        init() { (self.log, self.continuation) = AsyncStream.makeStream(of: String.self) }

        func access(to room: CallRoom, for user: UserName, named name: String, on device: DeviceID) throws(ChatError) -> CallAccess {
            CallAccess(backend: self.kind, url: "wss://media.test", token: "\(room.name)/\(user)")
        }
        func open(_ room: CallRoom) async throws { self.continuation.yield("open \(room.name)") }
        func close(_ room: CallRoom) async throws { self.continuation.yield("close \(room.name)") }
        func participants(of room: CallRoom) async throws -> Int { 0 }
    }

    private func group(_ fixture: ServiceFixture, _ alice: ChatPeer, users: ClosedRange<Int64>) async throws -> ConversationID {
        let request = CreateRequest(id: .make("g"), kind: .group, title: "Crew", users: [])
        let head = try await alice.ask(ChatVerbs.conversationCreate, request).head
        try await fixture.join(head.conversation, users: users)
        return head.conversation
    }

    private func start(_ peer: ChatPeer, _ conversation: ConversationID, _ backends: [String], id: String = "c") async throws -> CallAnswer
    {
        try await peer.ask(
            ChatVerbs.callStart, CallStartRequest(id: .make(id), conversation: conversation, media: .video, backends: backends))
    }

    private static let users = (1...40).map { $0 == 1 ? "alice" : $0 == 2 ? "bob" : "user\($0)" }

    @Test func aLargerGroupUsesTheMediaServer() async throws {
        let backend = Backend()
        try await withService(
            users: Self.users,
            configure: {
                $0.verbs.callBackend = backend
                $0.roomInterval = .milliseconds(10)
            }
        ) { fixture in
            let alice = try await fixture.client("alice")
            let group = try await self.group(fixture, alice, users: 2...40)
            let bob = try await fixture.client("bob")
            await #expect(throws: ChatError.self) { _ = try await self.start(alice, group, [], id: "none") }
            let answer = try await self.start(alice, group, ["livekit"])
            let room = CallRoom(conversation: group, call: answer.call)
            #expect(answer.access == CallAccess(backend: "livekit", url: "wss://media.test", token: "\(room.name)/alice"))
            #expect(try await self.start(alice, group, ["livekit"]) == answer, "a retry")
            #expect(try await bob.history(group).events.last?.body["backend"] == "livekit")
            let update = CallUpdateRequest(id: .make("u"), conversation: group, call: answer.call, state: .accepted)
            #expect(try await bob.ask(ChatVerbs.callUpdate, update).access?.token == "\(room.name)/bob")
            var log = backend.log.makeAsyncIterator()
            #expect(await log.next() == "open \(room.name)")
            // The room is empty, so the server ends the call.
            #expect(await log.next() == "close \(room.name)")
            #expect(try await self.start(alice, group, ["livekit"], id: "next").call > answer.call)
        }
    }

    @Test func aSmallGroupUsesNoMediaServer() async throws {
        try await withService(users: Self.users, configure: { $0.verbs.callBackend = Backend() }) { fixture in
            let alice = try await fixture.client("alice")
            let group = try await self.group(fixture, alice, users: 2...4)
            #expect(try await self.start(alice, group, []).access == nil)
        }
    }

    @Test func withoutAMediaServerALargeGroupHasNoCalls() async throws {
        try await withService(users: Self.users) { fixture in
            let alice = try await fixture.client("alice")
            let group = try await self.group(fixture, alice, users: 2...32)
            let answer = try await self.start(alice, group, ["livekit"])
            #expect(answer.access == nil)
            let end = CallUpdateRequest(id: .make("e"), conversation: group, call: answer.call, state: .ended)
            _ = try await alice.ask(ChatVerbs.callUpdate, end)
            try await fixture.join(group, users: 33...33)
            await #expect { _ = try await self.start(alice, group, [], id: "d") } throws: { ($0 as? ChatError)?.code == .limit }
        }
    }
}
