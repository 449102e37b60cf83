import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

/// The shell of the server's cores: what arrives is queued, read in turn, decided in batches,
/// committed, acknowledged and pushed. It stops and loses its disk when the run says so.
final class Server {
    let storage = MemoryStorage()
    let clock: SimulatedClock
    let agenda: Agenda
    let dice: Dice
    let oracle: Oracle
    let rules: ChatRules
    let bug: PlantedBug?

    // What a stop of the server loses.
    var sequencer = Sequencer()
    var committer = Committer()
    var router = PushRouter(largeConversation: Server.largeConversation)
    var reads = FairQueue<Read>(bounds: .reads)
    var digest = HeadDigest()
    var stamps: StampClock
    var connections: [SocketKey: Connection] = [:]
    var purposes: [Int64: (connection: Connection, purpose: Purpose)] = [:]
    var lastTicket: Int64 = 0
    /// Counts the starts of the server.
    private(set) var life = 0

    /// The lists of conversations that were read and have not reached the router.
    var snapshots: [(user: UserKey, load: Int, conversations: [ConversationKey])] = []
    var loads: [UserKey: Int] = [:]
    var lastLoad = 0

    /// The groups and pairs that may exist, in the order of their creation.
    var rooms: [ConversationKey] = []
    let encoder: EventEncoder
    /// The faults of what was served or decided, found by the oracle.
    var faults: [String] = []
    /// Whether pushes of events are lost, repeated and reordered.
    var isLossy = true
    var counts = Counts()

    /// Members beyond this number get nudges unless they look at the conversation.
    static let largeConversation = 16

    struct Counts {
        var batches = 0
        var commands = 0
        var events = 0
        var deliveries = 0
        var reads = 0
    }

    enum Read: Sendable {
        /// The conversations of a user, for the router.
        case load(UserKey, Int)
        case request(Request, SocketKey)
    }

    init(clock: SimulatedClock, agenda: Agenda, dice: Dice, oracle: Oracle, rules: ChatRules, bug: PlantedBug?) {
        self.clock = clock
        self.agenda = agenda
        self.dice = dice
        self.oracle = oracle
        self.rules = rules
        self.bug = bug
        self.stamps = StampClock(wall: clock.wall, monotonic: clock.monotonic)
        self.encoder = EventEncoder(names: oracle.names, servesRecalled: bug == .recalledServed)
    }

    // MARK: Connections

    func accept(_ connection: Connection) {
        self.connections[connection.key] = connection
        guard self.router.connected(connection.key, user: connection.user) else { return }
        self.lastLoad += 1
        self.loads[connection.user] = self.lastLoad
        _ = self.reads.enqueue(.load(connection.user, self.lastLoad), for: connection.user)
    }

    /// The end of a connection reaches the server.
    func close(_ connection: Connection) {
        connection.isOpenAtServer = false
        guard self.connections.removeValue(forKey: connection.key) != nil else { return }
        self.router.disconnected(connection.key)
    }

    /// Stops the server and starts it again. What is committed remains.
    func restart() {
        self.life += 1
        self.sequencer = Sequencer()
        self.committer = Committer()
        self.digest = HeadDigest()
        self.stamps = StampClock(wall: self.clock.wall, monotonic: self.clock.monotonic)
        self.purposes = [:]
        self.storage.abandon()
        self.endConnections()
    }

    func endConnections() {
        self.router = PushRouter(largeConversation: Self.largeConversation)
        self.reads = FairQueue(bounds: .reads)
        self.snapshots = []
        self.loads = [:]
        for connection in self.connections.values {
            connection.isOpenAtServer = false
            connection.up.removeAll()
        }
        self.connections = [:]
    }

    // MARK: Requests

    func receive(_ request: Request, on connection: Connection) {
        switch request {
        case .hello, .sync, .history:
            guard self.reads.enqueue(.request(request, connection.key), for: connection.user) != .admitted else { return }
            self.refuse(request, on: connection, ChatError(.tooMany, message: "Too many requests.", retryAfter: 1_000))
        case .command(var command, let purpose):
            self.drawKey(for: &command)
            self.lastTicket += 1
            if let error = self.sequencer.enqueue(command, ticket: self.lastTicket) {
                connection.down.append(.refused(error, purpose))
            } else {
                self.purposes[self.lastTicket] = (connection, purpose)
            }
        }
    }

    /// As in a session, each attempt to create a conversation has a key of its own.
    func drawKey(for command: inout Command) {
        switch command.action {
        case .openPair(let peer, _): command.action = .openPair(peer: peer, new: self.newRoom())
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
        case .hello: connection.down.append(.helloRefused(error))
        case .sync: connection.down.append(.syncRefused(error))
        case .history(let request, let isScroll): connection.down.append(.historyRefused(error, request, isScroll: isScroll))
        case .command(_, let purpose): connection.down.append(.refused(error, purpose))
        }
    }
}
