import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusEventLoop
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOCore

/// Sends pushes to connections: routes the events of committed batches, coalesces heads and read
/// positions, and announces presence.
///
/// Confined to a dedicated event loop, so that the pushes of one batch are encoded while the next
/// batch is synced to disk.
final class Hub {
    /// The state of a connection in the hub.
    private struct Entry {
        let connection: ChatConnection
        /// The features whose pushes are not sent to the client.
        let omitted: Set<PushFeature>
        var heads = CoalescedHeads()
        var window = SendWindow()
        /// The frames that wait until the answer to `hello` is sent; nil after the answer.
        var held: [Frame]? = []
    }

    private static let maximumHeld = 256
    /// The maximum number of connections of one account.
    static let connectionsPerAccount = 40

    private let eventLoop: any EventLoop
    private let environment: ChatLog.Environment
    let reads: any AccountReads
    let names: NameCache
    let presence: PresenceBook
    let book: ReceivedBook
    let send: @Sendable (Frame, [ChatConnection]) -> Void
    let logger: Logger
    private let random: @Sendable (ClosedRange<Int64>) -> Int64
    /// Ends calls after a timeout, if no device ends them.
    let calls: CallTimers
    /// The rooms of calls; nil without a media server.
    let rooms: CallRooms?
    var router = PushRouter()
    private var people = PresenceMachine()
    private var entries: [SocketKey: Entry] = [:]
    var shown = ShownSettings()
    private var digest = HeadDigest()
    private var profiles = ProfileDigest()
    /// The answers and pushes of the current batch, grouped by event loop; nil between two batches.
    private var deliveries: SocketIODeliveries?
    /// The connections whose send queues are checked after the deliveries of the batch.
    private var asked: [ChatConnection] = []
    /// The number of collected deliveries above which they are passed to the event loops before the
    /// end of the batch.
    private static let maximumDeliveries = 2_048

    /// - Parameters:
    ///   - reads: The reads. Only the hub may use them.
    ///   - random: Returns a random number in a range.
    ///   - send: Sends a frame to connections. Each connection occurs once.
    init(
        on eventLoop: any EventLoop, reads: any AccountReads, names: NameCache, presence: PresenceBook, received: ReceivedBook,
        environment: ChatLog.Environment, calls: CallTimers, rooms: CallRooms?, logger: Logger,
        random: @escaping @Sendable (ClosedRange<Int64>) -> Int64,
        send: @escaping @Sendable (Frame, [ChatConnection]) -> Void
    ) {
        self.eventLoop = eventLoop
        self.reads = reads
        self.names = names
        self.presence = presence
        self.book = received
        self.environment = environment
        self.calls = calls
        self.rooms = rooms
        self.random = random
        self.logger = logger
        self.send = send
    }

    func context(of viewer: UserKey) -> ReadContext {
        ReadContext(
            reads: self.reads, viewer: viewer, names: self.names, presence: self.presence, received: self.book,
            now: self.environment.read().time)
    }

    private func monotonic() -> Int64 { self.environment.monotonic() }

    // MARK: Connections

    /// Adds a connection. Its frames are held until `greeted`.
    ///
    /// - Parameter omitted: The features whose pushes are not sent to the client.
    /// - Throws: `too_many` if the account has the maximum number of connections, or the error of a
    ///   failed read.
    func connect(_ connection: ChatConnection, omitting omitted: Set<PushFeature> = []) throws {
        let user = connection.requester.user
        guard self.router.sockets(of: user).count < Self.connectionsPerAccount else {
            throw ChatError(
                .tooMany, message: "The account has reached the maximum of \(Self.connectionsPerAccount) connections. Close one first.",
                retryAfter: 10_000)
        }
        guard self.entries.updateValue(Entry(connection: connection, omitted: omitted), forKey: connection.key) == nil else { return }
        self.calls.connected(connection.requester.device)
        if self.router.connected(connection.key, user: user) {
            do {
                self.router.loaded(try self.reads.conversations(of: user), of: user)
            } catch {
                self.disconnect(connection.key)
                throw error
            }
        }
        self.tell(self.people.connected(user))
    }

    /// Sends the frames that were held for a connection until its `hello` was answered.
    func greeted(_ key: SocketKey) {
        guard let entry = self.entries[key], let held = entry.held else { return }
        self.entries[key]?.held = nil
        for frame in held { self.push(frame, to: [key]) }
    }

    func disconnect(_ key: SocketKey) {
        guard let entry = self.entries.removeValue(forKey: key) else { return }
        self.calls.disconnected(entry.connection.requester.device)
        self.router.disconnected(key)
        self.tell(self.people.disconnected(entry.connection.requester.user, at: self.monotonic()))
    }

    func requester(of key: SocketKey) -> Requester? { self.entries[key]?.connection.requester }

    func show(_ conversations: [ConversationKey], on key: SocketKey) { self.router.shows(key, Set(conversations)) }

    /// Sends the reason to the connections of the selected requesters, and closes these
    /// connections.
    func end(_ reason: ByePush.Reason, where isConcerned: (Requester) -> Bool) {
        let concerned = self.entries.values.map(\.connection).filter { isConcerned($0.requester) }
        for connection in concerned { connection.close(saying: ByePush(reason: reason)) }
    }

    /// Closes all connections, because stored events may not have been pushed. The clients
    /// reconnect and synchronize. Also resumes the timers of running calls.
    func restart() {
        self.endAll { $0.close(saying: $1) }
        do {
            self.calls.resume(try self.reads.calls(limit: ChatService.maximumResumedCalls))
        } catch {
            self.logger.error("The running calls could not be read", metadata: ["error": "\(error)"])
        }
    }

    /// Notifies all connections that the server is closing. The listener closes them.
    func announceShutdown() { self.endAll { $0.say($1) } }

    private func endAll(_ body: (ChatConnection, ByePush) -> Void) {
        let times = ReconnectionSpread(connections: self.entries.count).range
        for entry in self.entries.values { body(entry.connection, ByePush(reason: .shutdown, retryAfter: self.random(times))) }
    }

    // MARK: Batches

    /// Sends the answers to the commands of a batch, and then the pushes of its changes.
    func committed(_ batch: DecidedBatch, _ answers: SocketIODeliveries) {
        self.deliveries = answers
        defer {
            self.handOver()
            self.deliveries = nil
        }
        self.calls.committed(batch)
        self.rooms?.committed(batch)
        self.shown.committed(batch.changes)
        var deliveries = self.router.route(batch)
        // Events do not contain the properties of their conversation, so new members also receive
        // its head.
        for case .arrived(let key, let user, _) in batch.pushes {
            deliveries.append(.head(key, user: user, to: self.router.sockets(of: user)))
        }
        self.deliver(deliveries, EventFrames(batch), batch)
        for case .nudge(let key, let sockets) in self.router.digest(batch.changedHeads(upTo: self.router.largeConversation)) {
            self.headChanged(key, at: sockets)
        }
        self.carryOut(self.digest.committed(batch, at: self.monotonic()))
        self.carryOut(self.profiles.committed(batch))
    }

    private func deliver(_ deliveries: [PushRouter.Delivery], _ frames: EventFrames, _ batch: DecidedBatch) {
        do {
            for delivery in deliveries { try self.deliver(delivery, frames, batch) }
        } catch {
            // With the next push, recipients detect the missing events and request them.
            self.logger.error("Pushes of a batch could not be sent", metadata: ["error": "\(error)"])
        }
    }

    /// Sends the same nudge to all connections. Connections that do not read receive the nudge
    /// later.
    private func nudge(_ key: ConversationKey, _ sockets: [SocketKey]) {
        guard let viewer = sockets.first.flatMap({ self.entries[$0]?.connection.requester.user }),
            let counters = (try? self.reads.head(of: viewer, in: key))?.conversation.counters
        else { return }
        let nudge = HeadNudge(conversation: ConversationID(key), seq: counters.lastSeq, n: counters.lastN, at: counters.lastAt)
        for socket in sockets where self.router.isStalled(socket) {
            self.carryOut(self.entries[socket]?.heads.advanced(nudge, in: key, at: self.monotonic()), for: socket)
        }
        let reading = sockets.filter { !self.router.isStalled($0) }
        if !reading.isEmpty, let frame = Frame(ChatPushes.head, HeadPush(nudges: [nudge])) { self.push(frame, to: reading) }
    }

    private func carryOut(_ action: HeadDigest.Action) {
        guard case .schedule(let delay) = action else { return }
        self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
            guard let self else { return }
            let (told, next) = self.digest.timerFired(at: self.monotonic())
            for case .nudge(let key, let sockets) in self.router.digest(told) { self.nudge(key, sockets) }
            self.carryOut(next)
        }
    }

    private func carryOut(_ action: ProfileDigest.Action) {
        guard case .schedule(let delay) = action else { return }
        self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
            guard let self else { return }
            let (told, next) = self.profiles.timerFired()
            self.tellProfiles(told)
            self.carryOut(next)
        }
    }

    private func deliver(_ delivery: PushRouter.Delivery, _ frames: EventFrames, _ batch: DecidedBatch) throws {
        switch delivery {
        case .events(let key, let first, let last, let sockets):
            let names = try self.names.names(of: frames.senders(key), self.reads)
            for frame in frames.frames(of: key, first...last, names: names) { self.push(frame, to: sockets) }
        case .personal(let key, let first, let last, let user, let sockets):
            let names = try self.names.names(of: frames.senders(key), self.reads)
            for frame in frames.frames(of: key, first...last, for: user, names: names) { self.push(frame, to: sockets) }
        case .nudge(let key, let sockets):
            guard let change = batch.changes.conversations.first(where: { $0.key == key }) else { return }
            let nudge = frames.nudge(change, names: try self.names.names(of: frames.senders(key), self.reads))
            let mentioned = batch.mentioned[key] ?? []
            for socket in sockets { self.nudge(nudge, in: key, socket, isMentioned: self.isAmong(mentioned, socket)) }
        case .head(let key, _, let sockets):
            self.headChanged(key, at: sockets)
        case .read(let key, let user, let n, let sockets):
            guard try self.shown.showsReceipts(user, in: key, self.reads) else { return }
            self.tell(CoalescedHeads.Read(conversation: key, user: user, n: n), to: sockets)
        case .user(let subject, let sockets):
            guard let viewer = sockets.first.flatMap({ self.entries[$0]?.connection.requester.user }) else { return }
            let users = try self.context(of: viewer).users([subject])
            if let frame = Frame(ChatPushes.user, UserPush(users: users)) { self.push(frame, to: sockets) }
        }
    }

    /// Sends the newest position of a conversation to a connection, without its events. If the
    /// number of unread mentions changed, sends the head.
    private func nudge(_ nudge: HeadNudge, in key: ConversationKey, _ socket: SocketKey, isMentioned: Bool) {
        let time = self.monotonic()
        self.carryOut(
            isMentioned
                ? self.entries[socket]?.heads.headChanged(key, at: time) : self.entries[socket]?.heads.advanced(nudge, in: key, at: time),
            for: socket)
    }

    private func isAmong(_ users: Set<UserKey>, _ socket: SocketKey) -> Bool {
        guard !users.isEmpty, let user = self.entries[socket]?.connection.requester.user else { return false }
        return users.contains(UserKey(0)) || users.contains(user)
    }

    private func headChanged(_ key: ConversationKey, at sockets: [SocketKey]) {
        for socket in sockets { self.carryOut(self.entries[socket]?.heads.headChanged(key, at: self.monotonic()), for: socket) }
    }

    /// Adds a read position to the next frame of each connection.
    func tell(_ read: CoalescedHeads.Read, to sockets: [SocketKey]) {
        for socket in sockets { self.carryOut(self.entries[socket]?.heads.readMoved(read, at: self.monotonic()), for: socket) }
    }

    /// Sends a frame to connections. Holds the frame for connections whose `hello` is not answered.
    func push(_ frame: Frame, to sockets: [SocketKey]) {
        var ready: [ChatConnection] = []
        ready.reserveCapacity(sockets.count)
        for socket in sockets {
            guard let entry = self.entries[socket] else { continue }
            if let feature = frame.feature, entry.omitted.contains(feature) { continue }
            guard let held = entry.held else {
                ready.append(entry.connection)
                continue
            }
            if held.count < Self.maximumHeld {
                self.entries[socket]?.held?.append(frame)
            } else {
                entry.connection.close(saying: ByePush(reason: .slow))
            }
        }
        guard !ready.isEmpty else { return }
        if self.deliveries == nil {
            self.send(frame, ready)
        } else {
            self.deliveries?.add(frame.event, payload: frame.payload, to: ready.lazy.filter { $0.receive == nil }.map(\.socket))
            for connection in ready { connection.receive?(frame) }
        }
        for connection in ready { self.sent(frame.payload.textBytes, to: connection) }
        if self.deliveries?.count ?? 0 > Self.maximumDeliveries { self.handOver() }
    }

    private func handOver() {
        self.deliveries?.send()
        for connection in self.asked { self.ask(connection) }
        self.asked.removeAll(keepingCapacity: true)
    }

    // MARK: Connections that do not read

    private func sent(_ bytes: Int, to connection: ChatConnection) {
        let key = connection.key
        switch self.entries[key]?.window.sent(bytes) {
        case .doNothing, nil: break
        case .ask: if self.deliveries == nil { self.ask(connection) } else { self.asked.append(connection) }
        case .stall:
            self.entries[key]?.heads.hold()
            self.carryOut(self.router.stalled(key, at: self.monotonic()), for: key)
        }
    }

    private func ask(_ connection: ChatConnection) {
        let (hub, key) = (WeakLoopBound(self, on: self.eventLoop), connection.key)
        connection.socket.whenDrained { hub.onLoop { $0.drained(key) } }
    }

    private func drained(_ key: SocketKey) {
        self.entries[key]?.window.drained()
        guard self.router.isStalled(key) else { return }
        self.router.drained(key)
        self.carryOut(self.entries[key]?.heads.release(at: self.monotonic()), for: key)
    }

    private func carryOut(_ action: PushRouter.StallAction, for key: SocketKey) {
        switch action {
        case .doNothing: break
        case .close: self.entries[key]?.connection.close(saying: ByePush(reason: .slow))
        case .schedule(let delay):
            self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
                guard let self else { return }
                self.carryOut(self.router.stallTimerFired(key, at: self.monotonic()), for: key)
            }
        }
    }

    // MARK: Heads and read positions

    private func carryOut(_ action: CoalescedHeads.Action?, for socket: SocketKey) {
        switch action {
        case .send(let frame): self.send(frame, to: socket)
        case .schedule(let delay):
            self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
                guard let self else { return }
                self.carryOut(self.entries[socket]?.heads.timerFired(at: self.monotonic()), for: socket)
            }
        case .doNothing, nil: break
        }
    }

    private func send(_ frame: CoalescedHeads.Frame, to socket: SocketKey) {
        guard let connection = self.entries[socket]?.connection else { return }
        do {
            let context = self.context(of: connection.requester.user)
            if !frame.nudges.isEmpty, let frame = Frame(ChatPushes.head, HeadPush(nudges: frame.nudges)) { self.push(frame, to: [socket]) }
            for push in try context.headPushes(frame.heads) {
                if let frame = Frame(ChatPushes.head, push) { self.push(frame, to: [socket]) }
            }
            let marks = try context.marks(frame.reads)
            if !marks.isEmpty, let frame = Frame(ChatPushes.mark, MarkPush(marks: marks)) { self.push(frame, to: [socket]) }
        } catch {
            self.logger.error("Changed heads could not be pushed", metadata: ["error": "\(error)"])
        }
    }

    // MARK: Presence

    private func tell(_ actions: [PresenceMachine.Action]) {
        for action in actions {
            switch action {
            case .announce(let user, let isOnline):
                // The offline state is announced after a grace period.
                self.presence.set(user, isOnline: isOnline, at: self.environment.read().time - PresenceMachine.grace)
                self.announce(user, isOnline: isOnline)
            case .schedule(let delay):
                self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
                    guard let self else { return }
                    self.tell(self.people.timerFired(at: self.monotonic()))
                }
            }
        }
    }

    private func announce(_ user: UserKey, isOnline: Bool) {
        do {
            guard let account = try self.reads.accounts([user]).first, account.privacy.lastSeen != .none else { return }
            let lastSeen = isOnline ? nil : try self.context(of: user).lastSeen(of: user)
            let friends = try self.reads.contacts(of: user, after: nil, limit: ChatLimits.contacts)
            var recipients: [UserKey: [SocketKey]] = [:]
            // Members who are not contacts see the presence only if all users may see it.
            if account.privacy.lastSeen == .all {
                recipients = self.router.viewers(of: try self.reads.conversations(of: user), except: user)
            }
            for friend in friends where friend.relation == .friend {
                recipients[friend.address.peer] = self.router.sockets(of: friend.address.peer)
            }
            if account.privacy.lastSeen == .all, account.privacy.find == .all {
                for (key, entry) in self.entries where entry.connection.watchesPresence && entry.connection.requester.user != user {
                    let watcher = entry.connection.requester.user
                    if recipients[watcher]?.contains(key) != true { recipients[watcher, default: []].append(key) }
                }
            }
            for friend in friends where friend.isBlocked { recipients[friend.address.peer] = nil }
            let sockets = recipients.values.flatMap { $0 }.sorted()
            guard !sockets.isEmpty else { return }
            let entry = PresencePush.Entry(user: account.name, isOnline: isOnline, lastSeen: lastSeen)
            if let frame = Frame(ChatPushes.presence, PresencePush(users: [entry])) { self.push(frame, to: sockets) }
        } catch {
            self.logger.error("A presence could not be pushed", metadata: ["error": "\(error)"])
        }
    }
}
