package import ApusChatCore
package import ApusChatProtocol
package import ApusChatStorage
import ApusEventLoop
package import ApusJSON
import ApusSocketIOServer
package import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The chat without accounts and HTTP: decides and stores the changes of users, answers reads, and
/// sends pushes to connections.
package final class ChatService: Sendable {
    /// The storage of a service: one writer, and readers of the same data.
    package struct Storage {
        var writer: any MaintainedStorage
        var openReads: () throws -> any AccountReads

        /// - Parameter openReads: Opens a reader of the storage for one thread.
        package init(writer: any MaintainedStorage, openReads: @escaping () throws -> any AccountReads) {
            self.writer = writer
            self.openReads = openReads
        }
    }

    package struct Configuration: Sendable {
        package var verbs = VerbSettings()
        package var rules = ChatRules()
        /// The rate limits. `RateRules.off` is for load tests.
        package var rates = RateRules.standard
        /// The number of reading threads.
        package var readers = 2
        /// The time for which a call rings.
        package var ringTime = Duration.seconds(ChatLimits.ringSeconds)
        /// The time after which a call ends if none of its devices is connected.
        package var absenceTime = Duration.seconds(ChatLimits.absenceSeconds)
        /// The interval at which the participants of a media server room are counted.
        package var roomInterval = CallRoomWatch.interval
        /// The time between a message and the decision about its notification. A user who reads
        /// the message on another device within this time is not notified.
        package var noticeDelay = Duration.milliseconds(1_500)
        package var environment: ChatLog.Environment
        /// Returns a random number in the range.
        package var random: @Sendable (ClosedRange<Int64>) -> Int64 = { Int64.random(in: $0) }

        package init(environment: ChatLog.Environment) { self.environment = environment }
    }

    /// The maximum number of running calls that are read at the start.
    static let maximumResumedCalls = 100_000

    package let log: ChatLog
    package let pool: ReadPool
    let names = NameCache()
    package let presence = PresenceBook()
    package let received = ReceivedBook()
    let hub: NIOLoopBoundBox<Hub>
    let configuration: Configuration
    let logger: Logger
    private let verbs: VerbTable
    private let budget: NIOLockedValueBox<RateBudget>
    private let hasBudgets: Bool
    private let groups: [MultiThreadedEventLoopGroup]
    let indexer: SearchIndexer?
    /// The features of the server: all features of this version, except `search` if there is no
    /// search index.
    let features: [String]
    /// Decides which devices that are not connected are notified of a message.
    package let notifier: PushNotifier
    /// Reports new and edited texts, to whose links previews can be added.
    package let texts = CommittedTexts()

    /// - Parameters:
    ///   - storage: The storage, to which only this service may write.
    ///   - index: The search index, if the storage has one.
    package init(
        storage: consuming sending Storage, index: consuming sending (any SearchIndexing)? = nil, configuration: Configuration,
        logger: Logger
    ) throws {
        self.configuration = configuration
        self.logger = logger
        self.verbs = VerbTable(configuration.verbs)
        self.budget = .init(RateBudget(rules: configuration.rates))
        self.hasBudgets = !configuration.rates.isEmpty
        self.pool = try ReadPool(threads: configuration.readers, storage.openReads)
        let hubReads = try storage.openReads()
        let running = try hubReads.calls(limit: Self.maximumResumedCalls)
        // The log blocks its event loop during a sync, so the hub uses a separate event loop.
        self.groups = [MultiThreadedEventLoopGroup(numberOfThreads: 1), MultiThreadedEventLoopGroup(numberOfThreads: 1)]
        let (logLoop, hubLoop) = (self.groups[0].any(), self.groups[1].any())
        let calls = CallTimers(
            on: hubLoop, CallWatch(ringTime: configuration.ringTime, absenceTime: configuration.absenceTime))
        let rooms = configuration.verbs.callBackend.map {
            CallRooms(on: hubLoop, $0, interval: configuration.roomInterval, logger: logger)
        }
        let hub = Hub(
            on: hubLoop, reads: hubReads, names: self.names, presence: self.presence, received: self.received,
            environment: configuration.environment, calls: calls, rooms: rooms, logger: logger, random: configuration.random
        ) { frame, connections in
            let direct = connections.lazy.filter { $0.receive == nil }
            if let first = direct.first {
                first.socket.namespace.emit(frame.event, payload: frame.payload, to: direct.map(\.socket))
            }
            for connection in connections { connection.receive?(frame) }
        }
        let hubBox = NIOLoopBoundBox.sending(hub, to: hubLoop)
        let indexer: SearchIndexer? =
            if let index { SearchIndexer(index, monotonic: configuration.environment.monotonic, logger: logger) } else { nil }
        self.indexer = indexer
        self.features = indexer == nil ? ChatFeature.all.filter { $0 != "search" } : ChatFeature.all
        let (names, presence, received) = (self.names, self.presence, self.received)
        let texts = self.texts
        let notifier = PushNotifier(
            reads: try storage.openReads(), delay: configuration.noticeDelay, logger: logger,
            now: { configuration.environment.read().time },
            hasReceived: { n, member, device in received.last(of: member, on: device) >= n }
        ) { reads, user in
            ReadContext(
                reads: reads, viewer: user, names: names, presence: presence, received: received,
                now: configuration.environment.read().time)
        }
        self.notifier = notifier
        self.hub = hubBox
        self.log = ChatLog(
            storage: storage.writer, on: logLoop, environment: configuration.environment, rules: configuration.rules
        ) { batch, answers in
            hubLoop.execute { hubBox.value.committed(batch, answers) }
            indexer?.committed()
            notifier.committed(batch)
            texts.committed(batch)
        } onRecovery: {
            hubLoop.execute { hubBox.value.restart() }
        }
        let log = self.log
        hubBox.onLoop { hub in
            hub.calls.report = { call, state, done in
                log.submit(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .updateCall(call, state)), done)
            }
            hub.rooms?.end = { call in
                log.submit(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .updateCall(call, .ended))) { _ in }
            }
            hub.calls.resume(running)
        }
    }

    /// Commits the submitted changes, refuses waiting reads and all further requests, and stops the
    /// threads.
    package func close() async {
        // Breaks the reference cycle of the log, the timers and the closure that reports the end of
        // a call.
        self.hub.onLoop {
            $0.calls.close()
            $0.rooms?.close()
        }
        await self.log.close()
        await self.pool.close()
        await self.indexer?.close()
        await self.notifier.close()
        for group in self.groups { try? await group.shutdownGracefully() }
    }

    // MARK: Requests

    /// Answers a request of any verb, except `hello` and the verbs that only `ChatGateway` answers:
    /// `typing`, `subscribe`, `signal`, `devices`, `device.remove` and `push.set`.
    package func answer(_ verb: String, _ request: JSONValue, of requester: Requester) async throws(ChatError) -> JSONValue {
        try await withCheckedContinuation { continuation in
            self.answer(verb, request, of: requester, in: CommandLane()) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Answers a request of a reading verb, without charging the rate limits of the user.
    package func read(_ verb: String, _ request: JSONValue, of user: UserKey) async throws(ChatError) -> JSONValue {
        guard case .read(let body) = self.verbs[verb]?.answer else { throw .unknownVerb(verb) }
        return try await withCheckedContinuation { continuation in
            self.read(for: user, { context in try body(request, context) }) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Returns whether a verb only reads.
    func onlyReads(_ verb: String) -> Bool {
        if case .read = self.verbs[verb]?.answer { true } else { false }
    }

    /// Answers a request of a connection. First charges the rate limits of the user and the device.
    ///
    /// - Parameters:
    ///   - lane: Keeps the changes of one connection in order.
    ///   - completion: Called once, on any thread.
    func answer(
        _ verb: String, _ request: JSONValue, of requester: Requester, in lane: CommandLane,
        _ completion: @escaping @Sendable (Result<JSONValue, ChatError>) -> Void
    ) {
        guard let route = self.verbs[verb] else { return completion(.failure(.unknownVerb(verb))) }
        if let refusal = self.charge(route.rate, to: [.account(requester.user), .device(requester.device)]) {
            return completion(.failure(refusal))
        }
        switch route.answer {
        case .read(let body): self.read(for: requester.user, { context in try body(request, context) }, completion)
        case .change(let make):
            do {
                self.change(try make(request, requester), of: requester, in: lane, completion)
            } catch {
                completion(.failure(ChatError(reading: error)))
            }
        }
    }

    /// Charges an action to the rate limits of keys.
    ///
    /// - Returns: The refusal; nil if no rate limit is exceeded.
    func charge(_ action: RateAction, to keys: [RateKey]) -> ChatError? {
        guard self.hasBudgets else { return nil }
        let time = self.configuration.environment.monotonic()
        guard case .refused(let wait) = self.budget.withLockedValue({ $0.charge(action, to: keys, at: time) }) else { return nil }
        return ChatError(.tooMany, message: "Too many requests. Try again later.", retryAfter: wait)
    }

    /// Removes the state of rate limits that are no longer used.
    func sweepBudgets() {
        let time = self.configuration.environment.monotonic()
        self.budget.withLockedValue { $0.sweep(at: time) }
    }

    /// Returns the context for the answers to a user's requests.
    var makeContext: @Sendable (any AccountReads, UserKey) -> ReadContext {
        let (names, presence, received, environment) = (self.names, self.presence, self.received, self.configuration.environment)
        return { reads, user in
            ReadContext(reads: reads, viewer: user, names: names, presence: presence, received: received, now: environment.read().time)
        }
    }

    /// Runs a read for a user. The completion is called once, on any thread.
    func read<Value: Sendable>(
        for user: UserKey, _ body: @escaping @Sendable (ReadContext) throws -> Value,
        _ completion: @escaping @Sendable (Result<Value, ChatError>) -> Void
    ) {
        let makeContext = self.makeContext
        self.pool.read(for: user, { reads in try body(makeContext(reads, user)) }, completion)
    }

    private func change(
        _ change: Change, of requester: Requester, in lane: CommandLane,
        _ completion: @escaping @Sendable (Result<JSONValue, ChatError>) -> Void
    ) {
        if let tell = change.tell { self.hub.onLoop(tell) }
        lane.run { next in
            if !change.needsReads, let keys = self.names.known(change.names) {
                self.submit(
                    Result { try change.commands(keys, nil) }.mapError(ChatError.init(reading:)), change, requester,
                    answeringOn: lane.eventLoop, completion)
                return next()
            }
            self.read(for: requester.user) { context in
                try change.commands(try context.names.keys(of: change.names, context.reads), context)
            } _: { commands in
                self.submit(commands, change, requester, answeringOn: lane.eventLoop, completion)
                next()
            }
        }
    }

    /// Submits commands in order. The completion receives the answer to the last command, or the
    /// first refusal.
    private func submit(
        _ commands: Result<[Command], ChatError>, _ change: Change, _ requester: Requester, answeringOn eventLoop: (any EventLoop)?,
        _ completion: @escaping @Sendable (Result<JSONValue, ChatError>) -> Void
    ) {
        let finish: @Sendable (Result<StoredAnswer, ChatError>) -> Void = { result in
            switch (result, change.answer) {
            case (.failure(let error), _): completion(.failure(error))
            case (.success(let stored), .place(let body)): completion(.success(body(stored)))
            case (.success(let stored), .reading(let body)):
                self.read(for: requester.user, { context in try body(stored, context) }, completion)
            }
        }
        switch commands {
        case .failure(let error): completion(.failure(error))
        case .success(let commands):
            guard let last = commands.last else {
                return finish(.success(StoredAnswer(conversation: ConversationKey(0), seq: 0, n: 0, at: 0)))
            }
            let refusal = NIOLockedValueBox<ChatError?>(nil)
            for command in commands.dropLast() {
                self.log.submit(command) { result in
                    if case .failure(let error) = result { refusal.withLockedValue { $0 = $0 ?? error } }
                }
            }
            // The log answers commands in the order of their submission.
            self.log.submit(last, answeringOn: eventLoop) { result in finish(refusal.withLockedValue { $0 }.map { .failure($0) } ?? result)
            }
        }
    }
}

extension ChatError {
    static func unknownVerb(_ verb: String) -> ChatError {
        ChatError(.unsupported, message: "The server does not support the request `\(verb.prefix(64))`.")
    }
}
