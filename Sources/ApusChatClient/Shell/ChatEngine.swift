import ApusChatCore
import ApusChatProtocol
import ApusJSON
import Logging

/// Performs the actions of the ``ClientCore`` on the store and on the transport.
///
/// Answers, pushes and calls of the application are handled one at a time, on a serial queue:
/// answers and pushes in the order in which they were received. An update is published after it is
/// stored.
actor ChatEngine {
    typealias Job = @Sendable () async -> Void

    private let executor = StoreExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { self.executor.asUnownedSerialExecutor() }

    nonisolated let me: UserName
    nonisolated let broadcaster: ChatBroadcaster
    nonisolated let tokens: SessionTokens
    let store: ChatStore
    let transport: any ChatTransport
    let http: any ChatHTTPTransport
    let configuration: ChatClientConfiguration
    let environment: ChatEnvironment
    let logger: Logger

    var core: ClientCore
    var state: ChatConnectionState = .connecting
    /// The number of the current connection. It identifies late answers of an earlier connection.
    var generation = 0
    /// The number of the next connection that this engine opens; nil while the transport reconnects
    /// automatically.
    var plannedConnection: Int?
    private var lastPlan = 0
    /// The messages whose `send` request is pending.
    var sending: Set<ClientID> = []
    var uploads: Set<ClientID> = []
    /// The messages whose file was uploaded again, because the server did not have it.
    var uploadedAgain: Set<ClientID> = []
    /// The conversations whose draft is being sent.
    var draftsInFlight: Set<ConversationID> = []
    /// The uploaded part of each file whose upload is running, from 0 to 1.
    var progress: [ClientID: Double] = [:]
    var pullsWaiting: [HistoryRequest] = []
    var pullsRunning = 0
    var users: [UserName: ChatUser] = [:]
    var usersWanted: Set<UserName> = []
    /// The `seq`, in the user's self conversation, of the newest pushed change of the user's
    /// settings.
    var ownChangesSeq: Int64 = 0
    var contacts = ContactBook()
    var isLoadingContacts = false
    /// The time for which the next removal of expired messages is scheduled, in milliseconds since
    /// 1970.
    var plannedExpiry: Int64?
    var own: ConversationID?
    /// The limits that the server reported, or the default limits before its first report.
    var limits = HelloLimits()
    /// The ordinal of the newest message of each conversation that was reported to the server as
    /// received, or is waiting to be reported.
    var received: [ConversationID: Int64] = [:]
    var receivedWaiting: Set<ConversationID> = []
    /// The conversations on the screen, with the number of views that show each.
    var opened: [ConversationID: Int] = [:]
    /// The requests whose answers have not arrived, by their numbers.
    private var requests: [Int: CheckedContinuation<Result<JSONValue, ChatClientError>, Never>] = [:]
    /// The continuations of the answers that their requests have not handled yet.
    private var handling: [Int: CheckedContinuation<Void, Never>] = [:]
    private var lastRequest = 0
    /// The requests that wait for a connection.
    private(set) var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
    private var lastWaiter = 0

    private let jobs: AsyncStream<Job>
    private let jobsContinuation: AsyncStream<Job>.Continuation

    init(
        store: ChatStore, transport: any ChatTransport, http: any ChatHTTPTransport, tokens: SessionTokens, me: UserName,
        configuration: ChatClientConfiguration, environment: ChatEnvironment, logger: Logger
    ) {
        self.store = store
        self.transport = transport
        self.http = http
        self.tokens = tokens
        self.me = me
        self.configuration = configuration
        self.environment = environment
        self.logger = logger
        self.core = ClientCore(user: me)
        self.broadcaster = ChatBroadcaster()
        (self.jobs, self.jobsContinuation) = AsyncStream.makeStream(of: Job.self)
    }

    /// Reads the state from the store. Called before ``run()``, and after a failure of the store.
    func restore() throws(ChatClientError) {
        self.core = ClientCore(user: self.me)
        let restored = try self.store.restored()
        for user in try self.store.users() { self.users[user.name] = user }
        self.contacts = ContactBook(try self.store.contacts())
        self.core.restore(restored)
        self.planExpiry(at: try self.store.nextExpiry())
        for message in restored.unsent where message.isUploading { self.startUpload(message.id) }
    }

    /// Connects and runs until ``stop()``. All tasks of the engine are child tasks of this method.
    func run() async {
        self.transport.connect()
        let jobs = self.jobs
        let incoming = self.transport.incoming
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await event in incoming { await self.receivedEvent(event) }
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
        self.plannedConnection = nil
        self.generation += 1
        self.resumeWaiters(false)
        for number in self.requests.keys { self.answered(number, .failure(.closed)) }
        self.jobsContinuation.finish()
        await self.transport.close()
    }

    /// Starts a job as a child task of ``run()``.
    func start(_ job: @escaping Job) { self.jobsContinuation.yield(job) }

    /// Runs a job after a delay, unless the connection is lost or replaced during the delay.
    func after(_ delay: Duration, _ job: @escaping @Sendable (isolated ChatEngine) async -> Void) {
        let generation = self.generation
        self.start {
            guard (try? await self.environment.sleep(delay)) != nil, await self.generation == generation else { return }
            await job(self)
        }
    }

    /// Returns the number of the next planned connection. A later plan replaces it. A loss of the
    /// connection does not, because the transport may report the loss after the plan was made.
    func planConnection() -> Int {
        self.lastPlan += 1
        self.plannedConnection = self.lastPlan
        return self.lastPlan
    }

    /// Opens a planned connection, unless another plan or connection has replaced it.
    func open(_ plan: Int) {
        guard self.plannedConnection == plan else { return }
        self.plannedConnection = nil
        self.transport.connect()
    }

    func become(_ state: ChatConnectionState) {
        guard self.state != state, self.state != .closed else { return }
        self.state = state
        self.broadcaster.yield(.connection(state))
        if case .online = state { self.resumeWaiters(true) }
        if case .signedOut = state { self.resumeWaiters(false) }
    }

    // MARK: Requests

    /// Sends a request and returns its answer.
    func ask<Request: WireObject, Answer: WireObject>(
        _ verb: ChatVerb<Request, Answer>, _ request: Request
    ) async throws(ChatClientError) -> Answer {
        try ChatAnswer.read(try await self.answer(to: verb.name, request.json), as: Answer.self, verb: verb.name)
    }

    /// Sends a request and returns its answer, in order with the other events of the transport.
    private func answer(to verb: String, _ payload: JSONValue) async throws(ChatClientError) -> JSONValue {
        guard self.state != .closed else { throw .closed }
        guard !Task.isCancelled else { throw .cancelled }
        self.lastRequest += 1
        let number = self.lastRequest
        // Not `withLoopOperation`: an actor has the waits, not an event loop.
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.requests[number] = continuation
                self.transport.send(verb, payload, number: number)
            }
        } onCancel: {
            self.jobsContinuation.yield { await self.answered(number, .failure(.cancelled)) }
        }
        // The next event is handled when this task is suspended, which is after it has handled the
        // answer.
        self.handling.removeValue(forKey: number)?.resume()
        return try result.get()
    }

    /// Passes an answer to its request, unless the request was cancelled. Waits until the request
    /// has handled the answer, so that later events are handled after it. A task that is resumed
    /// may run on another executor first, and would then race with the next event.
    func deliver(_ number: Int, _ result: Result<JSONValue, ChatClientError>) async {
        guard let request = self.requests.removeValue(forKey: number) else { return }
        await withCheckedContinuation { continuation in
            self.handling[number] = continuation
            request.resume(returning: result)
        }
    }

    /// Ends a request without an answer of the server.
    private func answered(_ number: Int, _ result: Result<JSONValue, ChatClientError>) {
        self.requests.removeValue(forKey: number)?.resume(returning: result)
    }

    /// Sends a request at most three times. Repeats it if it is not answered, or if the server
    /// refuses it because `hello` was not sent before. The repetition is safe, because the request
    /// only reads data or has an id. Fails if the data of the server was replaced in the meantime:
    /// the positions in the request are then those of other messages.
    func askPatiently<Request: WireObject, Answer: WireObject>(
        _ verb: ChatVerb<Request, Answer>, _ request: Request
    ) async throws(ChatClientError) -> Answer {
        var lost: Int?
        let epoch = self.core.epoch
        for _ in 0..<3 {
            guard await self.isOnline(after: lost) else { break }
            guard epoch == nil || epoch == self.core.epoch else {
                throw ChatClientError(
                    .notConnected,
                    message: "the data of the server was replaced while the request waited for a connection; read the data again")
            }
            let generation = self.generation
            do throws(ChatClientError) { return try await self.ask(verb, request) } catch {
                // The transport may already have a new connection, whose first request must be
                // `hello`.
                let isEarly = error.serverError?.code == .unauthorized
                guard error.code == .notConnected || error.code == .timeout || isEarly else { throw error }
                lost = error.code == .timeout ? nil : generation
            }
        }
        if self.state == .closed { throw .closed }
        if case .signedOut(let error) = self.state { throw ChatClientError(server: error) }
        if Task.isCancelled { throw .cancelled }
        throw ChatClientError(.notConnected, message: "there is no connection to the server")
    }

    /// Waits until there is a connection other than the given lost one, for at most
    /// `changePatience`. A cancellation of the task ends the wait. The transport may detect a loss
    /// before this engine does.
    private func isOnline(after lost: Int?) async -> Bool {
        switch self.state {
        case .online: if lost != self.generation { return true }
        case .closed, .signedOut: return false
        case .connecting, .syncing: break
        }
        self.lastWaiter += 1
        let id = self.lastWaiter
        let patience = self.configuration.changePatience
        let deadline = Task {
            guard (try? await self.environment.sleep(patience)) != nil else { return }
            self.resumeWaiter(id)
        }
        defer { deadline.cancel() }
        // Not `withLoopOperation`: an actor has the waits, not an event loop.
        return await withTaskCancellationHandler {
            await withCheckedContinuation { self.waiters[id] = $0 }
        } onCancel: {
            self.jobsContinuation.yield { await self.resumeWaiter(id) }
        }
    }

    private func resumeWaiter(_ id: Int) { self.waiters.removeValue(forKey: id)?.resume(returning: false) }

    private func resumeWaiters(_ isOnline: Bool) {
        let waiters = self.waiters
        self.waiters = [:]
        for waiter in waiters.values { waiter.resume(returning: isOnline) }
    }

    // MARK: Store

    /// Runs a store operation. Reports a failure without stopping the client.
    @discardableResult
    func storing<Value>(_ body: () throws(ChatClientError) -> Value) -> Value? {
        do throws(ChatClientError) { return try body() } catch {
            self.logger.error("Chat store failed", metadata: ["chat.error": "\(error)"])
            self.broadcaster.yield(.storeFailed(error))
            return nil
        }
    }
}
