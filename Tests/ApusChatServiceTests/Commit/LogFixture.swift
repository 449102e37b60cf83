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

/// A log with a group of one user, on an event loop that the test runs. It records its output.
final class LogFixture {
    static let user = UserKey(1)
    static let group = ConversationKey(1)

    /// The embedded event loop of the log. It must stay on one thread, so that asynchronous tests
    /// pass another loop, with which this property traps.
    var loop: EmbeddedEventLoop { self.embedded! }
    private let embedded: EmbeddedEventLoop?
    let log: ChatLog
    /// The answers and pushes of the log, in order: `ack 3`, `refused storage`, `events 1...3`.
    let output: NIOLockedValueBox<[String]>
    let wall: NIOLockedValueBox<Int64>
    private var lastID = 0

    /// - Parameters:
    ///   - storage: The storage, to which the user and the group are added.
    ///   - loop: The event loop of the log; nil for an embedded one.
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

    /// Submits a message, whose answer is appended to `output`.
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

    /// Removes and returns the output since the last call.
    func takeOutput() -> [String] {
        self.output.withLockedValue { output in
            defer { output = [] }
            return output
        }
    }
}

/// The path of a folder that is removed when the object is released.
final class TemporaryFolder: Sendable {
    let path = NSTemporaryDirectory() + "apus-chat-service-" + UUID().uuidString
    deinit { try? FileManager.default.removeItem(atPath: self.path) }
}
