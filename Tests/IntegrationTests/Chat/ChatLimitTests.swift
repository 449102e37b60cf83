import ApusChatClient
import ApusChatProtocol
import ApusChatServer
import ApusConnectivity
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import Foundation
import Logging
import NIOConcurrencyHelpers
import Testing

/// The limits of the chat server, tested with clients.
@Suite(.timeLimit(.minutes(2)))
struct ChatLimitTests {
    private static let seconds = Duration.seconds(15)
    private static let password = "a long password"

    private func socket(_ url: String, _ session: ChatSession) -> (manager: SocketIOManager, socket: SocketIOClient) {
        let manager = SocketIOManager(url: url)
        return (manager, manager.socket(forNamespace: ChatVerb.namespace, auth: ["token": .string(session.token)]))
    }

    @Test func theSocketsOfOneUserAreCounted() async throws {
        try await withChatServer({ $0.maximumSocketsPerUser = 3 }) { url, _ in
            let alice = try await ChatClient.register(server: url, name: "alice", password: Self.password)
            let bobby = try await ChatClient.register(server: url, name: "bobby", password: Self.password)
            var open: [(manager: SocketIOManager, socket: SocketIOClient)] = []
            for _ in 1...3 {
                open.append(self.socket(url, alice))
                try await open[open.count - 1].socket.connect(timeout: Self.seconds)
            }
            // Another device of the same user counts, another user does not.
            let again = try await ChatClient.login(server: url, name: "alice", password: Self.password)
            for session in [alice, again] {
                let one = self.socket(url, session)
                do {
                    try await one.socket.connect(timeout: Self.seconds)
                    Issue.record("the server accepted too many sockets")
                } catch let error as SocketIOError {
                    #expect(error.code == .connectRefused && error.data?["code"]?.stringValue == ChatError.Code.tooMany.rawValue)
                    #expect(error.message.contains("at most 3 connections"))
                }
                one.manager.disconnect()
            }
            let other = self.socket(url, bobby)
            try await other.socket.connect(timeout: Self.seconds)
            // The existing sockets stay connected, and a closed socket frees a place.
            for each in open {
                let answer = try await each.socket.emitWithAck(ChatVerb.hello, arguments: [[:]], timeout: Self.seconds)
                #expect(answer.first?["user"]?["name"]?.stringValue == "alice")
            }
            open.removeLast().manager.disconnect()
            let last = self.socket(url, again)
            for attempt in 1...500 {
                do {
                    try await last.socket.connect(timeout: Self.seconds)
                    break
                } catch  where attempt < 500 { try await Task.sleep(for: .milliseconds(10)) }  // the server detects the close with a delay
            }
            for each in open + [other, last] { each.manager.disconnect() }
        }
    }

    /// There are more conversations, and more events in one conversation, than fit into one
    /// response.
    @Test func aClientGetsEveryPage() async throws {
        try await withChatServer { url, folder in
            let alice = try await ChatClient.register(server: url, name: "alice", password: Self.password)
            let bobby = try await ChatClient.register(server: url, name: "bobby", password: Self.password)
            let (manager, socket) = self.socket(url, alice)
            try await socket.connect(timeout: Self.seconds)
            func ask(_ verb: String, _ payload: SocketIOValue) async throws -> JSONValue {
                let answer = try await socket.emitWithAck(verb, arguments: [payload], timeout: Self.seconds).first ?? .null
                #expect(answer["error"] == nil, "\(answer)")
                #expect(try JSONWriter.bytes(of: answer).count <= ChatLimits.answerBytes)
                return answer
            }
            // 150 groups, each with a long last message: three pages.
            let text = SocketIOValue.string(String(repeating: "在", count: 2_000))
            var conversations: Set<String> = []
            for number in 0..<120 {
                let made = try await ask(
                    ChatVerb.create, ["title": .string("group \(number)"), "members": [.string(bobby.user.id.rawValue)]])
                let conv = try #require(made["head"]?["conv"]?.stringValue)
                conversations.insert(conv)
                _ = try await ask(
                    ChatVerb.send, ["conv": .string(conv), "id": .string("m\(number)"), "kind": "text", "body": ["text": text]])
            }
            let first = try await ask(ChatVerb.sync, [:])
            #expect(first["page"]?.stringValue != nil && first["heads"]?.arrayValue?.count ?? 0 < 120)
            // 64 long messages in one of them: seven pages of events.
            let longest = SocketIOValue.string(String(repeating: "\u{1}", count: ChatLimits.textLength))
            let busy = try #require(conversations.first)
            for number in 0..<64 {
                _ = try await ask(
                    ChatVerb.send, ["conv": .string(busy), "id": .string("l\(number)"), "kind": "text", "body": ["text": longest]])
            }

            let client = try await ChatClient.open(
                server: url, store: folder + "/bobby.sqlite", session: bobby,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            let changes = client.changes
            for await change in changes { if case .connection(.online) = change { break } }
            #expect(Set(try await client.conversations.map(\.id.rawValue)) == conversations)
            // The window is short. The client requests the rest, without gaps.
            let conversation = try await client.conversation(try #require(ConversationID(busy)))
            var texts = 0
            for _ in 0..<200 where texts < 65 {
                _ = try await conversation.loadEarlier()
                texts = try await conversation.history(limit: 1_000).reduce(0) { count, item in
                    if case .message(let message) = item, message.text != nil { count + 1 } else { count }
                }
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(texts == 65)
            await client.close()
            manager.disconnect()
        }
    }

    /// A page that catches up sends many requests at once. The responses are queued and none is
    /// refused.
    @Test func manyLargeAnswersAtOnceAllArrive() async throws {
        try await withChatServer { url, _ in
            let alice = try await ChatClient.register(server: url, name: "alice", password: Self.password)
            let (manager, socket) = self.socket(url, alice)
            try await socket.connect(timeout: Self.seconds)
            let made = try await socket.emitWithAck(
                ChatVerb.create, arguments: [["title": "t", "members": []]], timeout: Self.seconds)
            let conv = try #require(made.first?["head"]?["conv"]?.stringValue)
            let text = SocketIOValue.string(String(repeating: "x", count: ChatLimits.textLength))
            for number in 0..<60 {
                _ = try await socket.emitWithAck(
                    ChatVerb.send,
                    arguments: [["conv": .string(conv), "id": .string("m\(number)"), "kind": "text", "body": ["text": text]]],
                    timeout: Self.seconds)
            }
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        let answer = try await socket.emitWithAck(
                            ChatVerb.sync, arguments: [["conv": .string(conv), "from": 1]], timeout: Self.seconds)
                        return answer.first?["events"]?.arrayValue?.count ?? 0
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.count == 50 && Set(counts).count == 1 && (20...40).contains(counts[0]), "\(counts)")
            manager.disconnect()
        }
    }
}
