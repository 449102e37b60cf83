import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

/// The shell of the server's cores: requests are queued, answered or decided in batches, committed,
/// acknowledged and pushed. The run makes the server stop and its disk fail.
final class Server {
    let storage = MemoryStorage()
    let clock: SimulatedClock
    let agenda: Agenda
    let generator: SeededGenerator
    let oracle: Oracle
    let rules: ChatRules
    let bug: PlantedBug?

    // The state that is lost when the server stops.
    var sequencer = Sequencer()
    var committer = Committer()
    var router = PushRouter(largeConversation: Server.largeConversation)
    var reads = FairQueue<Read>(bounds: .reads)
    var digest = HeadDigest()
    var stamps: StampClock
    var connections: [SocketKey: Connection] = [:]
    var purposes: [Int64: (connection: Connection, purpose: Purpose)] = [:]
    var lastNumber: Int64 = 0
    var maintenance = Maintenance(pageLimit: 20)
    /// The value of `maintenance` before its waiting commands were created.
    var maintenanceBefore = Maintenance(pageLimit: 20)
    /// The number of unanswered commands of `maintain`.
    var maintaining = 0
    var calls = Server.newCallWatch
    /// For each call with a timer, the number of its newest timer.
    var callTimers: [EventAddress: Int] = [:]
    var lastCallTimer = 0
    /// The scheduled messages that the planted bug has sent but not removed.
    var fired: [ScheduledAddress] = []
    /// The number of starts of the server.
    private(set) var life = 0

    /// The lists of conversations that were read from the storage but not yet passed to the router.
    var snapshots: [(user: UserKey, load: Int, conversations: [ConversationKey])] = []
    var loads: [UserKey: Int] = [:]
    var lastLoad = 0

    /// The keys that were assigned to new groups and pairs, in order. The keys of refused commands
    /// belong to no conversation.
    var rooms: [ConversationKey] = []
    /// The codes that were assigned to new links, oldest first. They include refused and invalid
    /// links.
    var codes: [(code: String, conversation: ConversationKey)] = []
    let encoder: EventEncoder
    /// The faults that the oracle found in sent data and in decisions.
    var faults: [String] = []
    /// Whether pushes of events are lost, repeated and reordered.
    var isLossy = true
    /// Whether the storage contains a refused batch whose events no connection received.
    var hasUntold = false
    var coverage = Coverage()
    /// The numbers of unread mentions that the planted bug caches.
    var mentions: [MemberAddress: (read: Int64, count: Int64)] = [:]
    var counts = Counts()

    /// The number of members above which events are pushed only to members whose client shows the
    /// conversation.
    static let largeConversation = 16

    struct Counts {
        var batches = 0
        var commands = 0
        var events = 0
        var deliveries = 0
        var reads = 0
    }

    enum Read: Sendable {
        /// Reads the conversations of a user for the router.
        case load(UserKey, Int)
        case request(Request, SocketKey)
    }

    init(clock: SimulatedClock, agenda: Agenda, generator: SeededGenerator, oracle: Oracle, rules: ChatRules, bug: PlantedBug?) {
        self.clock = clock
        self.agenda = agenda
        self.generator = generator
        self.oracle = oracle
        self.rules = rules
        self.bug = bug
        self.stamps = StampClock(wall: clock.wall, monotonic: clock.monotonic)
        self.encoder = EventEncoder(oracle, bug: bug)
    }

    // MARK: Connections

    func accept(_ connection: Connection) {
        self.connections[connection.key] = connection
        let device = DeviceKey(Int64(connection.device))
        self.oracle.connectedDevices.insert(device)
        self.perform(self.calls.connected(device, at: self.clock.monotonic))
        guard self.router.connected(connection.key, user: connection.user) || !self.isLossy else { return }
        // With one server, the list is passed to the router immediately. With several servers, it
        // can arrive later than pushes.
        guard self.isLossy else { return self.router.loaded(self.storage.conversations(of: connection.user), of: connection.user) }
        self.lastLoad += 1
        self.loads[connection.user] = self.lastLoad
        _ = self.reads.enqueue(.load(connection.user, self.lastLoad), for: connection.user)
    }

    /// Handles the end of a connection in the server.
    func close(_ connection: Connection) {
        connection.isOpenAtServer = false
        guard self.connections.removeValue(forKey: connection.key) != nil else { return }
        self.router.disconnected(connection.key)
        self.callerDisconnected(connection.device)
    }

    /// Stops the server and starts it again. Committed data remains.
    func restart() {
        self.life += 1
        self.sequencer = Sequencer()
        self.committer = Committer()
        self.digest = HeadDigest()
        self.stamps = StampClock(wall: self.clock.wall, monotonic: self.clock.monotonic)
        self.purposes = [:]
        self.maintenance = Maintenance(pageLimit: 20)
        self.maintaining = 0
        self.fired = []
        self.coverage.note(.restart)
        self.storage.abandon()
        self.endConnections()
        self.resumeCalls()
    }

    func endConnections() {
        self.router = PushRouter(largeConversation: Self.largeConversation)
        self.reads = FairQueue(bounds: .reads)
        self.snapshots = []
        self.loads = [:]
        self.hasUntold = false
        for connection in self.connections.values {
            connection.isOpenAtServer = false
            connection.up.removeAll()
        }
        let devices = self.connections.values.map(\.device).sorted()
        self.connections = [:]
        for device in devices { self.callerDisconnected(device) }
    }

    // MARK: Requests

    func receive(_ request: Request, on connection: Connection) {
        switch request {
        case .hello, .sync, .history:
            guard self.reads.enqueue(.request(request, connection.key), for: connection.user) != .admitted else { return }
            self.refuse(request, on: connection, ChatError(.tooMany, message: "Too many requests.", retryAfter: 1_000))
        case .command(let command, let purpose): self.enqueue(command, purpose, on: connection)
        case .forward(var command, let originals, let id):
            command.action = self.forward(command.action, originals, by: command.actor)
            self.enqueue(command, .change(id), on: connection)
        }
    }

    private func enqueue(_ command: Command, _ purpose: Purpose, on connection: Connection) {
        var command = command
        self.drawKey(for: &command)
        self.lastNumber += 1
        if let error = self.sequencer.enqueue(command, number: self.lastNumber) {
            connection.send(.refused(error, purpose))
        } else {
            self.purposes[self.lastNumber] = (connection, purpose)
        }
    }

    /// Sets the key of a command that creates a conversation or a link. As in the real server, each
    /// attempt uses a new key.
    func drawKey(for command: inout Command) {
        switch command.action {
        case .openPair(let peer, _): command.action = .openPair(peer: peer, new: self.newRoom())
        case .createLink(let key, var terms):
            terms.code = "link\(self.codes.count)"
            self.codes.append((terms.code, key))
            command.action = .createLink(key, terms)
        case .create(var create):
            create.new = self.newRoom()
            command.action = .create(create)
        default: break
        }
    }

    private func newRoom() -> ConversationKey {
        let key = ConversationKey(1_000_001 + Int64(self.rooms.count))
        self.rooms.append(key)
        return key
    }

    private func refuse(_ request: Request, on connection: Connection, _ error: ChatError) {
        switch request {
        case .hello: connection.send(.helloRefused(error))
        case .sync: connection.send(.syncRefused(error))
        case .history(let request, let isScroll): connection.send(.historyRefused(error, request, isScroll: isScroll))
        case .command(_, let purpose): connection.send(.refused(error, purpose))
        case .forward(_, _, let id): connection.send(.refused(error, .change(id)))
        }
    }
}
