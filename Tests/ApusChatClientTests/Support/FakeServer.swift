import ApusChatProtocol
import ApusJSON
import Foundation

@testable import ApusChatClient

let alice = ChatUser(id: UserID(unchecked: "u1"), name: "alice", display: "Alice")
let bobby = ChatUser(id: UserID(unchecked: "u2"), name: "bobby", display: "Bobby")
let pair = ConversationID(unchecked: "c1")
let group = ConversationID(unchecked: "c2")

/// An in-memory chat server for one client (alice). A repeated client id yields the same event
/// (docs/chat-rules.md, 1).
final class FakeServer: @unchecked Sendable {  // `lock` guards all members
    private let lock = NSLock()
    private var logs: [ConversationID: [ChatEvent]] = [:]
    private var reads: [ConversationID: [UserID: Int64]] = [:]
    private var clock: Int64 = 1_000_000
    private var connection: FakeTransport?
    private var requests: [(verb: String, payload: JSONValue)] = []
    private var failures: [String: [ChatError]] = [:]
    /// The error of the next request for a page after the first.
    private var pageFailure: ChatError?
    private var acksToLose = 0
    private var isMute = false
    private var pageAfter: String?
    /// The number of events to store without a push.
    private var pushesToLose = 0
    /// The maximum number of heads or users in one page.
    private var pageLength = Int.max
    private var contacts = [bobby]
    /// Whether every page returns its own token as the next one.
    private var hasEndlessPages = false

    private func locked<Value>(_ body: () throws -> Value) rethrows -> Value {
        self.lock.lock()
        defer { self.lock.unlock() }
        return try body()
    }

    // MARK: Test actions

    func attach(_ transport: FakeTransport) { self.locked { self.connection = transport } }
    func create(_ conversation: ConversationID) { self.locked { self.logs[conversation] = self.logs[conversation] ?? [] } }
    func loseAcks(_ count: Int) { self.locked { self.acksToLose = count } }
    func losePushes(_ count: Int) { self.locked { self.pushesToLose = count } }
    func answerInPages(of length: Int, endlessly: Bool = false) {
        self.locked {
            self.pageLength = length
            self.hasEndlessPages = endlessly
        }
    }
    func meet(_ users: [ChatUser]) { self.locked { self.contacts = users } }
    func fail(_ verb: String, _ errors: ChatError...) { self.locked { self.failures[verb, default: []] += errors } }
    func failNextPage(_ error: ChatError) { self.locked { self.pageFailure = error } }
    /// Sets `next` of the answers to `users`.
    var nextPage: String? {
        get { self.locked { self.pageAfter } }
        set { self.locked { self.pageAfter = newValue } }
    }
    func log(of conversation: ConversationID) -> [ChatEvent] { self.locked { self.logs[conversation] ?? [] } }
    func asked(_ verb: String) -> [JSONValue] { self.locked { self.requests.filter { $0.verb == verb }.map(\.payload) } }
    func read(by user: UserID, in conversation: ConversationID) -> Int64 { self.locked { self.reads[conversation]?[user] ?? 0 } }

    /// Stores and pushes a message of another user.
    @discardableResult
    func write(_ text: String, by sender: ChatUser = bobby, in conversation: ConversationID, push: Bool = true) -> ChatEvent {
        let event = self.locked {
            self.append(
                ClientID(unchecked: UUID().uuidString), .text, ChatBody.text(.init(text: text)).value, by: sender.id, in: conversation)
        }
        if push { self.push(ChatVerb.event, event) }
        return event
    }

    func push(_ verb: String, _ payload: some Encodable) {
        guard let value = try? JSONValueEncoder().encode(payload) else { return }
        self.locked { self.connection }?.deliver(.push(name: verb, payload: value))
    }

    func head(of conversation: ConversationID) -> ChatHead { self.locked { self.makeHead(conversation) } }

    // MARK: Requests

    func answer(_ verb: String, _ payload: JSONValue) throws(ChatClientError) -> JSONValue {
        do {
            return try self.locked { try self.respond(verb, payload) }
        } catch let error as ChatError {
            return (try? JSONValueEncoder().encode(error)) ?? .null
        } catch let error as ChatClientError {
            throw error
        } catch {
            throw ChatClientError(.badReply, message: "\(error)")
        }
    }

    private func respond(_ verb: String, _ payload: JSONValue) throws -> JSONValue {
        self.requests.append((verb, payload))
        if let failure = self.failures[verb]?.first {
            self.failures[verb]?.removeFirst()
            throw failure
        }
        if payload["page"] != nil, let failure = self.pageFailure.take() { throw failure }
        let decoder = JSONValueDecoder()
        let encoder = JSONValueEncoder()
        switch verb {
        case ChatVerb.hello:
            let (users, page) = self.page(self.contacts, try decoder.decode(HelloRequest.self, from: payload).page)
            return try encoder.encode(HelloReply(user: alice, users: users, page: page, at: self.clock))
        case ChatVerb.send:
            let request = try decoder.decode(SendRequest.self, from: payload)
            let known = self.logs[request.conv]?.first { $0.id == request.id && $0.sender == alice.id }
            if let known, known.body != request.body { throw ChatError(.conflict, message: "another message has this id") }
            let event = known ?? self.append(request.id, request.kind, request.body, by: alice.id, in: request.conv)
            if self.acksToLose > 0 {
                self.acksToLose -= 1
                throw ChatClientError(.notConnected, message: "lost")
            }
            return try encoder.encode(SendReply(conv: event.conv, id: event.id, seq: event.seq, n: event.n ?? 0, at: event.at))
        case ChatVerb.sync:
            return try self.sync(try decoder.decode(SyncRequest.self, from: payload))
        case ChatVerb.mark:
            let request = try decoder.decode(MarkRequest.self, from: payload)
            self.reads[request.conv, default: [:]][alice.id] = request.read
            return try encoder.encode(MarkReply(conv: request.conv, read: request.read, unread: 0))
        case ChatVerb.open:
            self.logs[pair] = self.logs[pair] ?? []
            return try encoder.encode(HeadReply(head: self.makeHead(pair)))
        case ChatVerb.users:
            return try encoder.encode(UsersReply(users: [alice, bobby], next: self.pageAfter))
        default:
            throw ChatError(.badRequest, message: "unknown: \(verb)")
        }
    }

    private func sync(_ request: SyncRequest) throws -> JSONValue {
        let encoder = JSONValueEncoder()
        switch request {
        case .heads(let since, let page):
            let all = self.logs.keys.sorted().map { self.makeHead($0) }.filter { $0.updatedAt >= since ?? 0 }
            let (heads, next) = self.page(all, page)
            return try encoder.encode(HeadsReply(heads: heads, page: next, at: self.clock))
        case .forward(let conversation, let from, let limit):
            let events = (self.logs[conversation] ?? []).filter { $0.seq >= from }.prefix(limit)
            return try encoder.encode(EventsReply(events: Array(events), head: self.makeHead(conversation)))
        case .backward(let conversation, let before, let limit):
            let events = (self.logs[conversation] ?? []).filter { $0.seq < before ?? .max }.suffix(limit)
            return try encoder.encode(EventsReply(events: Array(events), head: self.makeHead(conversation)))
        }
    }

    private func page<Element>(_ all: [Element], _ page: String?) -> (elements: [Element], next: String?) {
        let start = page.flatMap { Int($0) } ?? 0
        let elements = Array(all.dropFirst(start).prefix(self.pageLength))
        let end = start + elements.count
        return (elements, self.hasEndlessPages ? page ?? "0" : end < all.count ? "\(end)" : nil)
    }

    private func append(_ id: ClientID, _ kind: ChatEventKind, _ body: JSONValue, by sender: UserID, in conversation: ConversationID)
        -> ChatEvent
    {
        self.clock += 20_000
        let seq = Int64(self.logs[conversation]?.count ?? 0) + 1
        let event = ChatEvent(conv: conversation, seq: seq, n: seq, sender: sender, id: id, at: self.clock, kind: kind, body: body)
        self.logs[conversation, default: []].append(event)
        self.reads[conversation, default: [:]][sender] = seq
        return event
    }

    private func makeHead(_ conversation: ConversationID) -> ChatHead {
        let log = self.logs[conversation] ?? []
        let reads = self.reads[conversation] ?? [:]
        let count = Int64(log.count)
        let read = reads[alice.id] ?? 0
        return ChatHead(
            conv: conversation, kind: conversation == pair ? .pair : .group, title: conversation == pair ? nil : "Swifts",
            members: [alice, bobby].map { ChatMember(user: $0.id, role: .member, read: reads[$0.id] ?? 0) }, seq: count, n: count,
            read: read,
            unread: count - read, minSeq: 1, updatedAt: log.last?.at ?? self.clock, last: log.last)
    }
}

/// The connection of one client to the fake server.
final class FakeTransport: ChatTransport, ChatBlobTransport, @unchecked Sendable {  // `lock` guards `isConnected`
    let incoming: AsyncStream<ChatTransportEvent>
    private let continuation: AsyncStream<ChatTransportEvent>.Continuation
    private let server: FakeServer
    private let lock = NSLock()
    private var isConnected = false
    private let connectCount = NSLock()
    private var connectsMade = 0

    init(_ server: FakeServer) {
        self.server = server
        (self.incoming, self.continuation) = AsyncStream.makeStream(of: ChatTransportEvent.self)
        server.attach(self)
    }

    /// Counts the calls. The test connects with ``goOnline()``.
    func connect() { self.connectCount.withLock { self.connectsMade += 1 } }
    var connects: Int { self.connectCount.withLock { self.connectsMade } }

    func goOnline() {
        self.set(true)
        self.continuation.yield(.connected)
    }

    func goOffline(comesBack: Bool = true) {
        self.set(false)
        self.continuation.yield(.disconnected(reason: "transport close", comesBack: comesBack))
    }

    func refuse(_ error: ChatError) { self.continuation.yield(.refused(error)) }
    func deliver(_ event: ChatTransportEvent) { if self.get() { self.continuation.yield(event) } }

    func request(_ event: String, _ payload: JSONValue) async throws(ChatClientError) -> JSONValue {
        guard self.get() else { throw ChatClientError(.notConnected, message: "not connected") }
        return try self.server.answer(event, payload)
    }

    func close() async {
        self.set(false)
        self.continuation.finish()
    }

    func upload(_ bytes: [UInt8], type: String) async throws(ChatClientError) -> BlobReply {
        guard self.get() else { throw ChatClientError(.unreachable, message: "not connected") }
        return BlobReply(
            blob: BlobID(unchecked: String(repeating: "a", count: 64)), size: bytes.count, type: "image/png", width: 3, height: 2)
    }

    func download(_ blob: BlobID) async throws(ChatClientError) -> [UInt8] { [1, 2, 3] }

    private func get() -> Bool {
        self.lock.lock()
        defer { self.lock.unlock() }
        return self.isConnected
    }

    private func set(_ value: Bool) {
        self.lock.lock()
        defer { self.lock.unlock() }
        self.isConnected = value
    }
}
