import ApusChatProtocol
import ApusConnectivity
import ApusEventLoop
import Foundation
import Logging
import Testing

@testable import ApusChatClient

/// A clock that only the test advances.
final class ManualTime: @unchecked Sendable {  // `lock` guards all members
    private let lock = NSLock()
    private var sleepers: [(id: Int, delay: Duration, continuation: CheckedContinuation<Void, any Error>)] = []
    private var next = 0
    private let sleeping: AsyncStream<Duration>
    private let announcements: AsyncStream<Duration>.Continuation

    init() {
        (self.sleeping, self.announcements) = AsyncStream.makeStream(of: Duration.self)
    }

    func sleep(_ delay: Duration) async throws {
        let id = self.makeID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                self.lock.lock()
                if Task.isCancelled {
                    self.lock.unlock()
                    continuation.resume(throwing: CancellationError())
                    return
                }
                self.sleepers.append((id, delay, continuation))
                self.lock.unlock()
                self.announcements.yield(delay)
            }
        } onCancel: {
            for sleeper in self.take({ $0 == id }) { sleeper.resume(throwing: CancellationError()) }
        }
    }

    private func makeID() -> Int {
        self.lock.lock()
        defer { self.lock.unlock() }
        self.next += 1
        return self.next
    }

    private func take(_ isWanted: (Int) -> Bool) -> [CheckedContinuation<Void, any Error>] {
        self.lock.lock()
        defer { self.lock.unlock() }
        let taken = self.sleepers.filter { isWanted($0.id) }
        self.sleepers.removeAll { isWanted($0.id) }
        return taken.map(\.continuation)
    }

    /// Waits for the next sleep and returns its duration.
    func nextSleeper() async -> Duration? {
        for await delay in self.sleeping { return delay }
        return nil
    }

    /// Ends all sleeps.
    func wakeAll() { for sleeper in self.take({ _ in true }) { sleeper.resume() } }
}

/// A client with its engine, store, connection and clock.
final class World: Sendable {
    let server: FakeServer
    let transport: FakeTransport
    let store: ChatStore
    let engine: ChatEngine
    let time = ManualTime()
    let changes: Changes
    private let run: Task<Void, Never>

    init(_ server: FakeServer = FakeServer(), path: String = ":memory:", configure: (inout ChatClientConfiguration) -> Void = { _ in })
        async throws
    {
        var configuration = ChatClientConfiguration()
        configuration.resending = .exponential(from: .seconds(1), to: .seconds(30), jitter: 0)
        configure(&configuration)
        self.server = server
        self.transport = FakeTransport(server)
        self.store = try ChatStore(path: path)
        let time = self.time
        let engine = ChatEngine(
            store: self.store, transport: self.transport, blobs: self.transport, me: alice.id, configuration: configuration,
            environment: .init(now: { 42 }, sleep: { try await time.sleep($0) }, makeID: { ClientID(unchecked: UUID().uuidString) }),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        self.engine = engine
        self.changes = Changes(engine.broadcaster.subscribe())
        try await engine.restore()
        self.run = Task { await engine.run() }
    }

    /// Connects and waits until the client is synchronized.
    func online() async {
        self.transport.goOnline()
        _ = await self.changes.first { if case .connection(.online) = $0 { true } else { nil } }
    }

    /// Stops the client and closes its store, as at the end of a process.
    func end() async {
        await self.engine.stop()
        await self.run.value
        self.store.close()
    }

    /// Waits for an event with the given text.
    @discardableResult
    func event(_ text: String) async -> ChatMessage? {
        await self.changes.first { if case .event(let message) = $0, message.text == text { message } else { nil } }
    }

    func texts(_ conversation: ConversationID = pair) async throws -> [String] {
        try await self.engine.history(of: conversation, before: nil, limit: 1_000).map { item in
            switch item {
            case .message(let message): message.text ?? "(\(message.kind))"
            case .gap(let range): "gap \(range)"
            }
        }
    }
}

/// Reads the changes one at a time.
actor Changes {
    private var iterator: AsyncStream<ChatChange>.AsyncIterator
    init(_ stream: AsyncStream<ChatChange>) { self.iterator = stream.makeAsyncIterator() }

    func first<Value: Sendable>(_ transform: @Sendable (ChatChange) -> Value?) async -> Value? {
        var iterator = self.iterator
        defer { self.iterator = iterator }
        while let change = await iterator.next(isolation: #isolation) {
            if let value = transform(change) { return value }
        }
        return nil
    }
}

extension ChatEngine {
    @discardableResult
    func send(_ words: String, in conversation: ConversationID = pair) throws -> ChatMessage {
        try self.send(kind: .text, body: ChatBody.text(.init(text: words)).value, in: conversation)
    }
}

/// A path of a store that is removed after the test.
func withTemporaryStore(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-chat-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("alice.sqlite").path)
}
