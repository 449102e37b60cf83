import ApusChatProtocol
import ApusJSON
import Logging

/// Carries out the decisions of the state machines on the store and on the transport.
///
/// Inputs of the server and the user are handled one at a time, on a separate queue
/// (``StoreExecutor``). A change is announced after it is stored.
actor ChatEngine {
    typealias Machine = SyncCursorMachine<ChatEvent>
    typealias Job = @Sendable () async -> Void

    /// The dependencies that tests replace: the clock, the delay and the identifiers.
    struct Environment: Sendable {
        /// The time in milliseconds since 1970, for display only. The server determines the order
        /// (docs/chat-rules.md, 9).
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
    /// The number of the current connection, by which results of an earlier connection are
    /// recognized.
    var generation = 0
    var syncFailures = 0
    var machines: [ConversationID: Machine] = [:]
    /// The conversations known from an event but not from a head. Their machines know the end of
    /// the log only.
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

    /// Reads the store. Called once, before ``run()``.
    func restore() throws(ChatClientError) {
        for user in try self.store.users() { self.users[user.id] = user }
        for conversation in try self.store.conversationIDs() { self.machines[conversation] = try self.loadMachine(conversation) }
        for entry in try self.store.queued() { _ = self.outbox.enqueued(entry.id, in: entry.conversation) }
    }

    /// Connects and runs until ``stop()`` or cancellation. All tasks of the engine are child tasks
    /// of this method.
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

    /// Disconnects and ends ``run()``.
    func stop() async {
        self.become(.closed)
        self.generation += 1
        self.jobsContinuation.finish()
        await self.transport.close()
    }

    /// Starts an asynchronous job inside ``run()``.
    func start(_ job: @escaping Job) { self.jobsContinuation.yield(job) }

    /// Runs a job after a delay, unless the connection has changed in the meantime.
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

    // MARK: Requests

    /// Sends a request and returns its decoded answer.
    func ask<Reply: Decodable & Sendable>(
        _ verb: String, _ payload: some Encodable & Sendable, as reply: Reply.Type
    ) async throws(ChatClientError) -> Reply {
        let request: JSONValue
        do { request = try JSONValueEncoder().encode(payload) } catch {
            throw ChatClientError(.badInput, message: "cannot encode the request `\(verb)`", cause: error)
        }
        let answer = try await self.transport.request(verb, request)
        if answer["error"] != nil, let error = try? JSONValueDecoder().decode(ChatError.self, from: answer) {
            throw ChatClientError(server: error)
        }
        do { return try JSONValueDecoder().decode(Reply.self, from: answer) } catch {
            throw ChatClientError(
                .badReply, message: "cannot decode the server's answer to `\(verb)`; the server may run another version", cause: error)
        }
    }

    // MARK: Store

    func loadMachine(_ conversation: ConversationID) throws(ChatClientError) -> Machine? {
        guard let position = try self.store.position(of: conversation) else { return nil }
        return Machine(cursor: position.cursor, head: position.head, isPrimed: position.isPrimed, configuration: self.configuration.sync)
    }

    /// Runs a store operation and reports a failure to the user without stopping the client.
    @discardableResult
    func storing<Value>(_ body: () throws(ChatClientError) -> Value) -> Value? {
        do throws(ChatClientError) { return try body() } catch {
            self.logger.error("Chat store failed", metadata: ["chat.error": "\(error)"])
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
