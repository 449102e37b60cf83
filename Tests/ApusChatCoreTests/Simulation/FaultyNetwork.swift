import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import ApusSeededRandom

/// Clients and a server on a network that loses, repeats and delays messages.
///
/// The clients are ``ClientCore``s with a store in memory. The server is a ``BatchDecider`` on a
/// ``MemoryStorage``. It decides the received commands in batches, and may stop between the commit
/// of a batch and its acknowledgements. Its data can be replaced with an earlier state.
final class FaultyNetwork {
    /// A client with its store. The store survives a restart of the client.
    final class Device {
        let user: UserKey
        let name: UserName
        var core: ClientCore
        /// The stored events by conversation and seq, each in its newest form.
        var log: [ConversationID: [Int64: ChatEvent]] = [:]
        /// The position up to which each stored event contains changes.
        var positions: [ConversationID: [Int64: Int64]] = [:]
        /// The messages of the user that the stored log does not contain.
        var outbox: [(id: ClientID, conversation: ConversationID, text: String)] = []
        /// The messages of `outbox` that the server has acknowledged.
        var sent: Set<ClientID> = []
        var acknowledged: [ClientID: SendAnswer] = [:]
        /// The messages that only the log and the discarded cache contained. The restore of an
        /// earlier state can lose them.
        var exposed: Set<ClientID> = []
        var heads: [ConversationID: ChatHead] = [:]
        var reads: [ConversationID: Int64] = [:]
        var epoch: PageToken?
        var token: PageToken?
        var isConnected = false
        /// The messages of the server that are in transit.
        var inbound: [Message] = []
        var timers: Set<ClientTimer> = []

        init(user: UserKey, name: UserName) {
            self.user = user
            self.name = name
            self.core = ClientCore(user: name)
        }
    }

    /// A message of the server to a device.
    enum Message {
        case hello(HelloAnswer)
        case sync(SyncAnswer)
        case history(HistoryAnswer, HistoryRequest)
        case sent(SendAnswer)
        case refused(ClientID, ChatError)
        case marked(MarkAnswer)
        case event(EventPush)
        case head(HeadPush)
    }

    private(set) var world = World()
    /// The steps that have created the users, the conversations and the log.
    private var steps: [(World) throws -> Void] = []
    private var epoch = 1
    /// The number of batches in the log.
    private(set) var batches = 0
    var devices: [Device] = []
    private var names: [UserKey: UserName] = [:]
    /// The received commands that are not decided, with their devices.
    private var arrived: [(device: Device, command: Command)] = []
    private var generator: SplitMix64
    private var lastID = 0
    /// The conversations that each device opens when it connects.
    var shown: [ConversationID] = []

    init(seed: UInt64) { self.generator = SplitMix64(state: seed) }

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self.generator) < percent }
    func pick<T>(_ values: [T]) -> T? { values.randomElement(using: &self.generator) }
    func number(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &self.generator) }

    func user(_ name: String, devices: Int) -> UserKey {
        let key = self.setUp { $0.user(name) }
        self.names[key] = Client.name(name)
        for _ in 0..<devices { self.devices.append(Device(user: key, name: Client.name(name))) }
        return key
    }

    /// Changes the data of the server before the first step.
    func setUp<Value>(_ body: @escaping (World) -> Value) -> Value {
        self.steps.append { _ = body($0) }
        return body(self.world)
    }

    // MARK: Steps

    /// Replaces the data of the server with an earlier state, in which the newest batches are
    /// missing.
    func restore(without count: Int) throws {
        for device in self.devices { self.disconnect(device) }
        self.arrived = []
        self.steps.removeLast(count)
        self.batches -= count
        let now = self.world.now
        self.world = World()
        for step in self.steps { try step(self.world) }
        self.world.now = now
        self.epoch += 1
    }

    func connect(_ device: Device) {
        guard !device.isConnected else { return }
        device.isConnected = true
        for conversation in self.shown { self.carryOut(device.core.opened(conversation), on: device) }
        self.carryOut(device.core.connected(), on: device)
    }

    /// Closes the connection of a device and loses the messages that are on their way to the
    /// device. The commands that the server has received are lost in half of the cases.
    func disconnect(_ device: Device) {
        guard device.isConnected else { return }
        device.isConnected = false
        device.inbound = []
        device.timers = []
        if self.chance(50) { self.arrived.removeAll { $0.device === device } }
        device.core.disconnected()
    }

    /// Replaces the core of a device with a new one that is restored from its store.
    func restart(_ device: Device) {
        self.disconnect(device)
        device.core = ClientCore(user: device.name)
        var restored = ClientCore.Restored()
        restored.heads = Array(device.heads.values)
        restored.cursors = device.log.compactMapValues { $0.keys.max() }
        restored.unsent = device.outbox.map { ($0.id, $0.conversation, false) }
        restored.acknowledged = device.sent
        restored.reads = device.reads
        restored.epoch = device.epoch
        restored.token = device.token
        device.core.restore(restored)
    }

    func write(_ text: String, in conversation: ConversationID, on device: Device) {
        self.lastID += 1
        let id = Client.id("m\(self.lastID)")
        device.outbox.append((id, conversation, text))
        self.carryOut(device.core.enqueued(id, in: conversation), on: device)
    }

    func read(_ n: Int64, in conversation: ConversationID, on device: Device) {
        self.carryOut(device.core.read(n, in: conversation), on: device)
    }

    /// Decides all received commands as one batch.
    ///
    /// - Parameter stops: Whether the server stops after the commit, without answers and pushes.
    func decide(stops: Bool = false) throws {
        let batch = self.arrived
        self.arrived = []
        guard !batch.isEmpty else { return }
        let decisions = try self.commit(batch.map(\.command))
        guard !stops else {
            for device in self.devices { self.disconnect(device) }
            return
        }
        for (request, decision) in zip(batch, decisions) where request.device.isConnected {
            request.device.inbound.append(self.message(decision, for: request.command))
        }
        for push in self.world.pushes { self.deliver(push) }
    }

    /// Delivers the next message to a device. A push may be lost or repeated.
    func arrive(at device: Device, losesPushes: Bool = true) {
        guard !device.inbound.isEmpty else { return }
        let message = device.inbound.removeFirst()
        switch message {
        case .event, .head:
            if losesPushes, self.chance(15) { return }
            if self.chance(10) { self.take(message, on: device) }
        default: break
        }
        self.take(message, on: device)
    }

    func fireTimers(of device: Device) {
        let timers = device.timers
        device.timers = []
        for timer in timers { self.carryOut(device.core.timerFired(timer), on: device) }
    }

    /// Decides a command that no device sent, and delivers its pushes.
    func run(_ command: Command) throws {
        _ = try self.commit([command])
        for push in self.world.pushes { self.deliver(push) }
    }

    private func commit(_ commands: [Command]) throws -> [Decision] {
        let now = self.world.now + 1
        self.world.now = now
        self.steps.append { world in
            world.now = now
            try world.run(commands)
        }
        self.batches += 1
        return try self.world.run(commands)
    }

    /// Reconnects all devices and delivers all messages without loss, in at most 10,000 rounds.
    func settle() throws {
        for device in self.devices {
            self.disconnect(device)
            self.connect(device)
        }
        for _ in 0..<10_000 {
            try self.decide()
            for device in self.devices { self.arrive(at: device, losesPushes: false) }
            if self.arrived.isEmpty, self.devices.allSatisfy(\.inbound.isEmpty) {
                guard self.devices.contains(where: { !$0.timers.isEmpty }) else { return }
                for device in self.devices { self.fireTimers(of: device) }
            }
        }
    }

    // MARK: The client's shell

    private func take(_ message: Message, on device: Device) {
        let actions: [ClientAction] =
            switch message {
            case .hello(let answer): device.core.answered(hello: answer)
            case .sync(let answer): device.core.answered(sync: answer)
            case .history(let answer, let request): device.core.answered(answer, to: request)
            case .sent(let answer): device.core.answered(answer)
            case .refused(let id, let error): device.core.failed(send: id, with: error)
            case .marked(let answer): device.core.answered(answer)
            case .event(let push): device.core.pushed(push)
            case .head(let push): device.core.pushed(push)
            }
        self.carryOut(actions, on: device)
    }

    private func carryOut(_ actions: [ClientAction], on device: Device) {
        for action in actions {
            switch action {
            case .request(let request): self.send(request, from: device)
            case .store(let change): self.store(change, on: device)
            case .startTimer(let timer, _): device.timers.insert(timer)
            case .endSession: device.isConnected = false
            }
        }
    }

    private func store(_ change: StoreChange, on device: Device) {
        switch change {
        case .events(let events, let asOf):
            let asOf = asOf ?? events.last?.seq ?? 0
            for event in events where asOf >= device.positions[event.conversation]?[event.seq] ?? 0 {
                device.log[event.conversation, default: [:]][event.seq] = event
                device.positions[event.conversation, default: [:]][event.seq] = asOf
            }
            for event in events { Self.apply(event, on: device) }
            let own = Set(events.filter { $0.sender == device.name }.compactMap(\.id))
            device.outbox.removeAll { own.contains($0.id) }
            device.sent.subtract(own)
        case .head(let head): device.heads[head.conversation] = head
        case .gone(let conversation):
            device.heads[conversation] = nil
            device.log[conversation] = nil
            device.positions[conversation] = nil
        case .token(let token): device.token = token
        case .epoch(let epoch): device.epoch = epoch
        case .requeue:
            device.exposed.formUnion(device.acknowledged.keys.filter { !device.sent.contains($0) })
            device.acknowledged = [:]
            device.sent = []
        case .dropCache:
            device.heads = [:]
            device.log = [:]
            device.positions = [:]
            device.reads = [:]
        case .sent(let id, let answer):
            device.acknowledged[id] = answer
            if device.log[answer.conversation]?[answer.seq] == nil {
                device.sent.insert(id)
            } else {
                device.outbox.removeAll { $0.id == id }
            }
        case .refused(let id, _): device.outbox.removeAll { $0.id == id }
        case .read(let conversation, let n, let isConfirmed):
            if !isConfirmed {
                device.reads[conversation] = n
            } else if n >= device.reads[conversation] ?? 0 {
                device.reads[conversation] = nil
            }
        case .gap, .peerRead, .expire: break
        }
    }

    private static func apply(_ change: ChatEvent, on device: Device) {
        guard let ref = change.ref else { return }
        for (seq, stored) in device.log[change.conversation] ?? [:] where seq == ref || stored.ref == ref {
            guard device.positions[change.conversation]?[seq] ?? 0 < change.seq else { continue }
            device.log[change.conversation]?[seq] = stored.applying(change)
            device.positions[change.conversation]?[seq] = change.seq
        }
    }

    // MARK: The server's shell

    private func send(_ request: ClientRequest, from device: Device) {
        guard device.isConnected else { return }
        switch request {
        case .hello(let since, let epoch):
            let current = Client.token("epoch\(self.epoch)")
            let sync = epoch == nil || epoch == current ? self.sync(SyncRequest(since: since), of: device) : nil
            device.inbound.append(
                .hello(
                    HelloAnswer(
                        epoch: current, at: self.world.now, user: ChatUser(name: device.name), device: DeviceID(number: 1),
                        own: ConversationID(number: 1), sync: sync)))
        case .sync(let request): device.inbound.append(.sync(self.sync(request, of: device)))
        case .history(let request): device.inbound.append(.history(self.history(request, of: device), request))
        case .send(let id, let conversation):
            guard let message = device.outbox.first(where: { $0.id == id }) else { return }
            let command = self.world.text(device.user, ConversationKey(conversation.number), message.text, id: id.rawValue)
            self.arrived.append((device, command))
        case .mark(let mark):
            self.arrived.append((device, self.world.read(device.user, ConversationKey(mark.conversation.number), mark.read ?? 0)))
        }
    }

    private func sync(_ request: SyncRequest, of device: Device) -> SyncAnswer {
        // Each sync returns all heads. The tokens of the storage have their own tests.
        let heads = self.world.storage.heads(of: device.user, after: nil, limit: 100).heads.map { self.head($0, of: device) }
        return SyncAnswer(heads: heads, token: Client.token("token"))
    }

    private func head(_ row: HeadRow, of device: Device) -> ChatHead {
        let counters = row.conversation.counters
        return ChatHead(
            conversation: ConversationID(number: row.conversation.key.rawValue), kind: row.conversation.kind, state: row.member.state,
            seq: counters.lastSeq, n: counters.lastN, minSeq: row.member.minSeq, read: max(row.member.readN, row.member.floorN),
            unread: row.unread, at: counters.lastAt)
    }

    private func history(_ request: HistoryRequest, of device: Device) -> HistoryAnswer {
        let key = ConversationKey(request.conversation.number)
        let selection: EventSelection
        switch request.range {
        case .newest: selection = .through(.max)
        case .from(let seq): selection = .from(seq)
        case .before(let seq): selection = .through(seq - 1)
        case .around(let seq): selection = .from(seq)
        }
        let views = self.world.storage.events(in: key, selection, as: device.user, limit: request.limit)
        let last = self.world.storage.head(of: device.user, in: key)?.conversation.counters.lastSeq ?? 0
        return HistoryAnswer(conversation: request.conversation, events: views.map { self.event($0, in: key) }, seq: last)
    }

    func event(_ view: EventView, in key: ConversationKey) -> ChatEvent {
        let conversation = ConversationID(number: key.rawValue)
        guard let row = view.row else { return .hidden(conversation: conversation, seq: view.seq, n: view.n > 0 ? view.n : nil) }
        let body = (try? JSONReader.read(Array(row.body.utf8)))?.objectValue ?? [:]
        return ChatEvent(
            conversation: conversation, seq: row.seq, n: row.n > 0 ? row.n : nil, sender: self.names[row.sender], id: row.clientID,
            at: row.at,
            kind: row.kind, ref: row.ref > 0 ? row.ref : nil, state: row.state, body: body, editedAt: row.editedAt > 0 ? row.editedAt : nil,
            reactions: row.reactions, votes: row.votes)
    }

    private func message(_ decision: Decision, for command: Command) -> Message {
        switch (decision, command.action) {
        case (.accepted(let answer), .mark), (.repeated(let answer), .mark):
            let head = self.world.storage.head(of: command.actor, in: answer.conversation)
            return .marked(
                MarkAnswer(
                    conversation: ConversationID(number: answer.conversation.rawValue), read: answer.n, unread: head?.unread ?? 0,
                    mentions: 0, n: head?.conversation.counters.lastN ?? 0))
        case (.accepted(let answer), _), (.repeated(let answer), _):
            return .sent(
                SendAnswer(
                    conversation: ConversationID(number: answer.conversation.rawValue), id: command.request?.id ?? Client.id("none"),
                    seq: answer.seq, n: answer.n, at: answer.at))
        case (.refused(let error), _): return .refused(command.request?.id ?? Client.id("none"), error)
        }
    }

    private func deliver(_ push: Push) {
        switch push {
        case .events(let key, let first, let last):
            for device in self.devices where device.isConnected {
                let views = self.world.storage.events(in: key, .from(first), as: device.user, limit: Int(last - first + 1))
                let events = views.map { self.event($0, in: key) }
                if !events.isEmpty { device.inbound.append(.event(EventPush(events: events))) }
            }
        case .head(let key, let user):
            guard let row = self.world.storage.head(of: user, in: key) else { return }
            for device in self.devices where device.isConnected && device.user == user {
                device.inbound.append(.head(HeadPush(heads: [self.head(row, of: device)])))
            }
        case .read, .arrived, .departed, .user, .profile: break
        }
    }
}
