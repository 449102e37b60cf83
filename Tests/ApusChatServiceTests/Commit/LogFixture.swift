import ApusChatCore
import ApusChatProtocol
import ApusChatSQLite
import ApusChatService
import ApusChatStorage
import ApusSocketIOServer
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded

/// A log on an event loop that the test runs, with a group of one user, and its output.
final class LogFixture {
    static let user = UserKey(1)
    static let group = ConversationKey(1)

    /// The event loop that the test runs. It belongs to one thread, so that asynchronous tests pass
    /// another one.
    var loop: EmbeddedEventLoop { self.embedded! }
    private let embedded: EmbeddedEventLoop?
    let log: ChatLog
    /// What left the log, in order: `ack 3`, `refused storage`, `events 1...3`.
    let output: NIOLockedValueBox<[String]>
    let wall: NIOLockedValueBox<Int64>
    private var lastID = 0

    /// - Parameters:
    ///   - storage: The storage; it gets the user and the group.
    ///   - loop: The event loop instead of the one that the test runs.
    init(_ storage: sending any MaintainedStorage, on loop: (any EventLoop)? = nil) throws {
        var changes = Changes()
        changes.accounts = [
            AccountRow(key: Self.user, name: UserName(prepared: "alice"), nickname: "Alice", selfConversation: ConversationKey(2))
        ]
        var row = ConversationRow(key: Self.group, kind: .group, createdAt: 0, settings: ConversationSettings())
        row.counters.memberCount = 1
        changes.conversations = [ConversationChange(key: Self.group, counters: row.counters, row: row, isNew: true)]
        changes.members = [MemberRow(address: MemberAddress(Self.group, Self.user), role: .owner, state: .joined)]
        _ = try storage.begin(Needs())
        _ = try storage.commit(changes)
        let embedded = loop == nil ? EmbeddedEventLoop() : nil
        self.embedded = embedded
        let output = NIOLockedValueBox<[String]>([])
        let wall = NIOLockedValueBox<Int64>(1_700_000_000_000)
        self.output = output
        self.wall = wall
        self.log = ChatLog(
            storage: storage, on: loop ?? embedded!,
            environment: ChatLog.Environment(wall: { wall.withLockedValue { $0 } }, monotonic: { wall.withLockedValue { $0 } })
        ) { batch, answers in
            var answers = answers
            answers.send()
            for case .events(_, let first, let last) in batch.pushes {
                output.withLockedValue { $0.append("events \(first)...\(last)") }
            }
        }
    }

    func message(to conversation: ConversationKey = LogFixture.group, id: String? = nil, text: String = "hello") -> Command {
        self.lastID += 1
        let content = MessageContent(kind: .text, body: "{\"text\":\"\(text)\"}")
        let identity = ClientID(id ?? "id-\(self.lastID)").map { RequestIdentity(id: $0, hash: RequestHash(1, 0, 0, 0)) }
        let send = SendCommand(conversation: conversation, content: .success(content))
        return Command(actor: Self.user, device: DeviceKey(1), request: identity, action: .send(send))
    }

    /// Submits a message. Its answer goes to `output`.
    func send(_ conversation: ConversationKey = LogFixture.group, id: String? = nil, text: String = "hello") {
        let output = self.output
        self.log.submit(self.message(to: conversation, id: id, text: text)) { result in
            let line =
                switch result {
                case .success(let answer): "ack \(answer.seq)"
                case .failure(let error): "refused \(error.code.rawValue)"
                }
            output.withLockedValue { $0.append(line) }
        }
    }

    /// What left the log since the last call.
    func takeOutput() -> [String] {
        self.output.withLockedValue { output in
            defer { output = [] }
            return output
        }
    }
}

/// A folder that is removed with its owner.
final class TemporaryFolder: Sendable {
    let path = NSTemporaryDirectory() + "apus-chat-service-" + UUID().uuidString
    deinit { try? FileManager.default.removeItem(atPath: self.path) }
}
