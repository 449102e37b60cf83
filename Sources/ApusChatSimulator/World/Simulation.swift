import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

/// One run: users, devices and a server on a network with faults. The seed determines the whole
/// run.
final class Simulation {
    let seed: UInt64
    let generator: SeededGenerator
    let clock = SimulatedClock()
    let agenda = Agenda()
    let population: Population
    let oracle: Oracle
    let server: Server
    let devices: [Device]
    /// The connections that are open on at least one side.
    var connections: [Connection] = []
    var lastConnection: Int64 = 0
    var lastID = 0
    /// Receives a line for each action and each message; nil if the run is not traced.
    let trace: ((String) -> Void)?

    /// The number of steps of a run, without the initial setup and the final delivery.
    static let stepCount = 2_000

    init(seed: UInt64, bug: PlantedBug? = nil, trace: ((String) -> Void)? = nil) {
        self.seed = seed
        self.trace = trace
        self.generator = SeededGenerator(seed: seed &* 0xD134_2543_DE82_EF95 &+ 1)
        self.population = Population(self.generator)
        var rules = ChatRules()
        rules.editMilliseconds = 60_000
        rules.recallMilliseconds = 90_000
        self.oracle = Oracle(own: self.population.own, names: self.population.names, rules: rules)
        self.server = Server(clock: self.clock, agenda: self.agenda, generator: self.generator, oracle: self.oracle, rules: rules, bug: bug)
        self.population.addAccounts(to: self.server.storage, at: self.clock.wall)
        var devices: [Device] = []
        for user in self.population.devices {
            guard let name = self.oracle.name(of: user) else { continue }
            devices.append(Device(index: devices.count, user: user, name: name, bug: bug, agenda: self.agenda, clock: self.clock))
        }
        self.devices = devices
    }

    /// The result of a run.
    struct Outcome: Sendable {
        var seed: UInt64
        /// The number of steps until the end or the first fault.
        var steps: Int
        /// The first faults; empty if the run succeeded.
        var faults: [String]
        /// A digest of the run. Runs of the same seed have the same digest.
        var digest: UInt64
        var events: Int
        var deliveries: Int
        var coverage: Coverage
    }

    /// Runs until the end or the first fault.
    func run(steps: Int = Simulation.stepCount) -> Outcome {
        self.begin()
        var step = 0
        while step < steps, self.server.faults.isEmpty {
            step += 1
            self.step(step)
        }
        if self.server.faults.isEmpty { self.settle() }
        if self.server.faults.isEmpty { self.check() }
        return Outcome(
            seed: self.seed, steps: step, faults: Array(self.server.faults.prefix(5)), digest: self.digest,
            events: self.server.counts.events, deliveries: self.server.counts.deliveries, coverage: self.server.coverage)
    }

    func note(_ text: @autoclosure () -> String) {
        if let trace = self.trace { trace("\(self.clock.monotonic) ms: \(text())") }
    }

    // MARK: Commands

    func id() -> ClientID? {
        self.lastID += 1
        return ClientID("c\(self.lastID)")
    }

    func command(_ user: UserKey, device: Int = 0, _ id: ClientID, _ action: Command.Action) -> Command {
        let hash = RequestHash(self.generator.next(), 0, 0, 0)
        return Command(actor: user, device: DeviceKey(Int64(device)), request: RequestIdentity(id: id, hash: hash), action: action)
    }

    /// A hash of all logs, and of the acknowledgements and heads that the devices have received.
    private var digest: UInt64 {
        var digest: UInt64 = 14_695_981_039_346_656_037
        func mix(_ number: Int64) { digest = (digest ^ UInt64(bitPattern: number)) &* 1_099_511_628_211 }
        for key in self.oracle.books.keys.sorted() {
            for entry in self.oracle.books[key]?.entries ?? [] {
                mix(entry.seq)
                mix(entry.sender.rawValue)
                mix(entry.at)
            }
        }
        for device in self.devices {
            for message in device.acknowledged { mix(message.answer.seq) }
            for conversation in device.conversations { mix(device.heads[conversation]?.seq ?? 0) }
        }
        return digest
    }
}
