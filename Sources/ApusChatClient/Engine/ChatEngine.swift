import ApusChatProtocol
import ApusJSON
import Logging

/// The client's one place where things happen: it carries out what the machines decide, on the store and on the transport.
///
/// Everything from the server and everything from the user passes through here one after the other, on a queue of its own (``StoreExecutor``).
/// A change is announced after it is stored.
actor ChatEngine {
    typealias Machine = SyncCursorMachine<ChatEvent>
    typealias Job = @Sendable () async -> Void

    /// What a test replaces: the clock, the wait, the dice.
    struct Environment: Sendable {
        /// Milliseconds since 1970. For display only: order comes from the server (chat rule 9).
        var now: @Sendable () -> Int64
        var sleep: @Sendable (Duration) async throws -> Void
        var makeID: @Sendable () -> ClientID

        init(
            now: @escaping @Sendable () -> Int64, sleep: @escaping @Sendable (Duration) async throws -> Void,
            makeID: @escaping @Sendable () -> ClientID
        ) {
            self.now = now
            self.sleep = sleep
            self.makeID = makeID
        }
    }

    private let executor = StoreExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { self.executor.asUnownedSerialExecutor() }

    let store: ChatStore
    let transport: any ChatTransport
    let blobs: any ChatBlobTransport
    let configuration: ChatClientConfiguration
    let environment: Environment
    let logger: Logger
    nonisolated let me: UserID
    nonisolated let broadcaster: ChatBroadcaster

    var state: ChatConnectionState = .connecting
    /// Counts connections, so that what belonged to an earlier one is recognised.
    var generation = 0
    var greetingFailures = 0
    var machines: [ConversationID: Machine] = [:]
    /// Conversations that an event named before any head did. Their machines know a head only.
    var unknown: Set<ConversationID> = []
    var users: [UserID: ChatUser] = [:]
    var outbox: OutboxMachine
    var dice = SystemRandomNumberGenerator()
    var pullsWaiting: [(conversation: ConversationID, request: SyncPullRequest)] = []
    var pullsRunning = 0

    private let jobs: AsyncStream<Job>
    private let jobsContinuation: AsyncStream<Job>.Continuation

    init(
        store: ChatStore, transport: any ChatTransport, blobs: any ChatBlobTransport, me: UserID, configuration: ChatClientConfiguration,
        environment: Environment, logger: Logger
    ) {
        self.store = store
        self.transport = transport
        self.blobs = blobs
        self.me = me
        self.configuration = configuration
        self.environment = environment
        self.logger = logger
        self.broadcaster = ChatBroadcaster(buffer: configuration.changeBuffer)
        self.outbox = OutboxMachine(configuration: configuration.outbox)
        (self.jobs, self.jobsContinuation) = AsyncStream.makeStream(of: Job.self)
    }

    /// Reads the store. Once, before ``run()``.
    func restore() throws(ChatClientError) {
        for user in try self.store.users() { self.users[user.id] = user }
        for conversation in try self.store.conversationIDs() { self.machines[conversation] = try self.loadMachine(conversation) }
        for entry in try self.store.queued() { _ = self.outbox.enqueued(entry.id, in: entry.conversation) }
    }

    /// Connects and works until ``stop()`` or cancellation. Every task of the engine lives in here.
    func run() async {
        self.transport.connect()
        let jobs = self.jobs
        let incoming = self.transport.incoming
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await event in incoming { await self.received(event) }
                self.jobsContinuation.finish()
            }
            for await job in jobs { group.addTask { await job() } }
            group.cancelAll()
        }
        self.broadcaster.finish()
    }

    /// Leaves the server and ends ``run()``.
    func stop() async {
        self.become(.closed)
        self.generation += 1
        self.jobsContinuation.finish()
        await self.transport.close()
    }

    /// Starts something that may wait, inside ``run()``.
    func start(_ job: @escaping Job) { self.jobsContinuation.yield(job) }

    /// Calls back after a while, unless the connection it was meant for is gone.
    func after(_ delay: Duration, _ job: @escaping @Sendable (isolated ChatEngine) async -> Void) {
        let generation = self.generation
        self.start {
            guard (try? await self.environment.sleep(delay)) != nil, await self.generation == generation else { return }
            await job(self)
        }
    }

    func become(_ state: ChatConnectionState) {
        guard self.state != state, self.state != .closed else { return }
        self.state = state
        self.broadcaster.yield(.connection(state))
    }

    // MARK: Asking

    /// One request and its answer, typed both ways.
    func ask<Reply: Decodable & Sendable>(
        _ verb: String, _ payload: some Encodable & Sendable, as reply: Reply.Type
    ) async throws(ChatClientError) -> Reply {
        let question: JSONValue
        do { question = try JSONValueEncoder().encode(payload) } catch {
            throw ChatClientError(.badInput, message: "cannot write the request `\(verb)`", cause: error)
        }
        let answer = try await self.transport.request(verb, question)
        if answer["error"] != nil, let error = try? JSONValueDecoder().decode(ChatError.self, from: answer) {
            throw ChatClientError(server: error)
        }
        do { return try JSONValueDecoder().decode(Reply.self, from: answer) } catch {
            throw ChatClientError(
                .badReply, message: "the server's answer to `\(verb)` was not understood; is it of the same version?", cause: error)
        }
    }

    // MARK: Store

    func loadMachine(_ conversation: ConversationID) throws(ChatClientError) -> Machine? {
        guard let position = try self.store.position(of: conversation) else { return nil }
        return Machine(cursor: position.cursor, head: position.head, isPrimed: position.isPrimed, configuration: self.configuration.sync)
    }

    /// Carries out something on the store whose failure the user has to hear of, but which must not stop the client.
    @discardableResult
    func storing<Value>(_ body: () throws(ChatClientError) -> Value) -> Value? {
        do throws(ChatClientError) { return try body() } catch {
            self.logger.error("The chat store failed", metadata: ["chat.error": "\(error)"])
            self.broadcaster.yield(.storeFailed(error))
            return nil
        }
    }

    func announce(_ conversation: ConversationID) {
        let me = self.me
        let info = self.storing { () throws(ChatClientError) in try self.store.conversation(conversation, of: me) }
        if let info = info.flatMap({ $0 }) { self.broadcaster.yield(.conversation(info)) }
    }
}
