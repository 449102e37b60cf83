import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatSimulator

/// The faults of the network: what is lost, what is delayed, and when it ends.
@Suite("Network of a run")
struct NetworkTests {
    private let simulation = Simulation(seed: 2)
    private var device: Device { self.simulation.devices[0] }

    private func connected() throws -> Connection {
        self.simulation.connect(self.device)
        return try #require(self.device.connection)
    }

    private static let message = Message.marks(MarkPush(marks: []))

    @Test func aDeviceHasOneConnection() throws {
        let first = try self.connected()
        self.simulation.connect(self.device)
        #expect(self.device.connection === first && self.simulation.connections.count == 1)
        #expect(self.simulation.server.connections[first.key] === first)
        // The first request of a connection is `hello`.
        guard case .hello? = first.up.first else {
            Issue.record("\(String(describing: first.up.first))")
            return
        }
        self.device.retire()
        self.simulation.connect(self.device)
        #expect(self.device.connection == nil && self.simulation.connections.count == 1, "a retired device stays offline")
    }

    @Test func messagesInTransitAreLostWithTheConnection() throws {
        let connection = try self.connected()
        connection.send(Self.message)
        self.simulation.disconnect(self.device)
        #expect(connection.down.isEmpty && !connection.isOpenAtDevice && self.device.connection == nil)
        #expect(connection.isOpenAtServer, "the server does not know it yet")
        self.simulation.moveTraffic(visits: .max, all: true)
        #expect(!connection.isOpenAtServer && self.simulation.connections.isEmpty && self.simulation.server.connections.isEmpty)
        self.simulation.disconnect(self.device)  // a device without a connection
        #expect(self.simulation.connections.isEmpty)
    }

    /// The server has closed, and the device still reads what was sent before.
    @Test func messagesSentBeforeTheServerClosedArrive() throws {
        let connection = try self.connected()
        connection.send(.helloRefused(ChatError(.unavailable, message: "")))
        self.simulation.server.close(connection)
        self.simulation.moveTraffic(visits: .max, all: true)
        #expect(connection.down.isEmpty && self.device.connection == nil && self.simulation.connections.isEmpty)
    }

    @Test func aCutConnectionDeliversNothingAndStaysOpen() throws {
        let connection = try self.connected()
        connection.send(Self.message)
        let waiting = connection.up.count
        connection.isCut = true
        self.simulation.moveTraffic(visits: .max, all: true)
        #expect(connection.up.count == waiting && connection.down.count == 1 && connection.isOpenAtServer && connection.isOpenAtDevice)
        connection.isCut = false
        self.simulation.moveTraffic(visits: .max, all: true)
        #expect(connection.up.isEmpty && connection.down.isEmpty)
    }

    @Test(arguments: 1...8) func aPartitionEndsForAllOfItsDevices(seed: Int) throws {
        let simulation = Simulation(seed: UInt64(seed))
        for device in simulation.devices { simulation.connect(device) }
        simulation.partition()
        let cut = simulation.devices.filter { $0.connection?.isCut == true }
        #expect(!cut.isEmpty && cut.count < simulation.devices.count)
        #expect(simulation.server.coverage.incidents[Incident.partition.rawValue] == 1)
        simulation.clock.advance(499)
        simulation.fireTimers()
        #expect(cut.allSatisfy { $0.connection?.isCut == true })
        simulation.clock.advance(5_501)
        simulation.fireTimers()
        #expect(simulation.devices.allSatisfy { $0.connection?.isCut != true })
    }

    /// A new connection of a device is not cut, whatever happened to the old one.
    @Test func aReconnectionIsWhole() throws {
        let old = try self.connected()
        old.isCut = true
        self.simulation.disconnect(self.device)
        let new = try self.connected()
        #expect(!new.isCut && !new.isSlow && new.key != old.key && new.down.isEmpty)
    }

    @Test func aSlowDeviceSendsAndReadsLater() throws {
        let connection = try self.connected()
        self.simulation.slowDown(self.device)
        self.simulation.slowDown(self.device)
        #expect(connection.isSlow)
        self.simulation.moveTraffic(visits: .max, all: true)
        #expect(connection.up.isEmpty, "requests are sent")
        connection.send(Self.message)
        self.simulation.moveTraffic(visits: .max, all: true)
        #expect(connection.down.count == 1, "nothing is read")
        self.simulation.clock.advance(1_999)
        self.simulation.fireTimers()
        #expect(connection.isSlow)
        self.simulation.clock.advance(60_000)
        self.simulation.fireTimers()
        #expect(!connection.isSlow)
        self.simulation.slowDown(self.simulation.devices[1])  // a device without a connection
        #expect(self.simulation.devices[1].connection == nil)
    }

    @Test func aRestartOfTheProgramKeepsItsStore() throws {
        let connection = try self.connected()
        let room = ConversationID(number: 7)
        self.device.store(.head(ChatHead(conversation: room, kind: .group, seq: 0, n: 0, at: 1)))
        connection.send(Self.message)
        self.simulation.restart(self.device)
        #expect(self.device.connection == nil && self.device.heads[room] != nil && connection.down.isEmpty && !connection.isOpenAtDevice)
    }

    /// A timer of a device applies to the connection for which it was started.
    @Test func timersOfAnEarlierConnectionAreIgnored() throws {
        let old = try self.connected()
        self.simulation.disconnect(self.device)
        let new = try self.connected()
        // The device waits before it greets the server again.
        self.device.take(.helloRefused(ChatError(.unavailable, message: "")))
        new.up.removeAll()
        self.device.fired(.hello, of: old.key)
        #expect(new.up.isEmpty)
        self.device.fired(.hello, of: new.key)
        #expect(new.up.count == 1)
    }

    // MARK: Replay

    /// The trace of a seed is the same, line by line: a replay shows the run that failed.
    @Test(arguments: [(9, nil), (3, PlantedBug.slowModeForgets)] as [(UInt64, PlantedBug?)])
    func aReplayShowsTheSameRun(seed: UInt64, bug: PlantedBug?) {
        func trace(_ seed: UInt64) -> (lines: [String], outcome: Simulation.Outcome) {
            var lines: [String] = []
            let outcome = Simulation(seed: seed, bug: bug, trace: { lines.append($0) }).run(steps: 250)
            return (lines, outcome)
        }
        let (first, second, other) = (trace(seed), trace(seed), trace(seed + 1))
        #expect(first.lines.count > 200)
        let difference = zip(first.lines, second.lines).first { $0 != $1 }
        #expect(first.lines.count == second.lines.count && difference == nil, "\(String(describing: difference))")
        #expect(first.outcome.faults == second.outcome.faults && first.outcome.steps == second.outcome.steps)
        #expect(first.lines != other.lines)
    }

    /// A longer run begins as a shorter one.
    @Test func fewerStepsAreTheBeginningOfTheSameRun() {
        func lines(_ steps: Int) -> [String] {
            var lines: [String] = []
            let simulation = Simulation(seed: 4, trace: { lines.append($0) })
            simulation.begin()
            for step in 0..<steps { simulation.step(step) }
            return lines
        }
        let (short, long) = (lines(60), lines(120))
        #expect(short.count < long.count && Array(long.prefix(short.count)) == short)
    }
}

/// The end of a run, at which the faults stop and everything must arrive.
@Suite("Settling of a run", .timeLimit(.minutes(5)))
struct SettleTests {
    private func stopped(seed: UInt64 = 3, steps: Int = 300) throws -> Simulation {
        let simulation = Simulation(seed: seed)
        simulation.begin()
        for step in 0..<steps { simulation.step(step) }
        try #require(simulation.server.faults == [])
        return simulation
    }

    @Test func afterTheEndEveryDeviceIsConnectedAndHasNothingToSend() throws {
        let simulation = try self.stopped()
        #expect(simulation.server.isLossy)
        simulation.settle()
        #expect(simulation.server.faults == [] && !simulation.server.isLossy)
        for device in simulation.devices where !device.isRetired {
            #expect(device.connection?.isCut == false && device.connection?.isSlow == false)
            #expect(device.outbox.isEmpty && device.changes.isEmpty && device.connection?.hasTraffic == false)
        }
        #expect(simulation.server.sequencer.count == 0 && simulation.agenda.isEmpty)
    }

    /// A core that forgets a message never sends it.
    @Test func aMessageThatIsNeverSentIsFound() throws {
        let simulation = try self.stopped()
        let device = try #require(simulation.devices.first { !$0.isRetired && !$0.conversations.isEmpty })
        try #require(device.heads[device.conversations[0]]?.state == .joined)
        let id = try #require(ClientID("forgotten"))
        let send = SendCommand(
            conversation: ConversationKey(device.conversations[0].number),
            content: .success(MessageContent(kind: .text, body: Body.json("forgotten"))))
        device.outbox.append(
            Device.Unsent(
                id: id, number: 1, conversation: device.conversations[0],
                command: simulation.command(device.user, device: device.index, id, .send(send))))
        simulation.settle()
        #expect(simulation.server.faults == ["messages and changes are not answered"])
    }

    /// An event that the store lacks and that no gap announces would never be requested.
    @Test func aHoleWithoutAGapIsFound() throws {
        let simulation = try self.stopped()
        var name = ""
        search: for device in simulation.devices where !device.isRetired {
            for conversation in device.conversations {
                guard let log = device.logs[conversation], log.count >= 8, log.missing.isEmpty, let lowest = log.lowest,
                    device.heads[conversation]?.state == .joined, device.gaps[conversation]?.isEmpty ?? true
                else { continue }
                var holed = DeviceLog()
                for seq in lowest...log.last where seq != log.last - 3 { if let event = log[seq] { holed.put(event, asOf: log.last) } }
                device.logs[conversation] = holed
                name = "device \(device.index) of \(device.name): \(conversation): the core passed over event \(log.last - 3) without a gap"
                break search
            }
        }
        try #require(!name.isEmpty)
        simulation.settle()
        #expect(simulation.server.faults.contains(name), "\(simulation.server.faults)")
    }

    /// A run that has settled once, so that nothing but the planted state can keep it from settling
    /// again.
    private func settled() throws -> Simulation {
        let simulation = try self.stopped(steps: 120)
        simulation.settle()
        try #require(simulation.server.faults == [])
        return simulation
    }

    @Test func aSettledRunSettlesAgain() throws {
        let simulation = try self.settled()
        let events = simulation.server.counts.events
        simulation.settle()
        simulation.check()
        #expect(simulation.server.faults == [] && simulation.server.counts.events == events)
    }

    /// A server whose maintenance waits for an answer that never comes erases no account.
    @Test func anAccountThatIsNeverErasedIsFound() throws {
        let simulation = try self.settled()
        let user = try #require(simulation.population.users.first { !simulation.oracle.deleted.contains($0) })
        simulation.server.restart()
        simulation.server.deleteAccount(of: user)
        for device in simulation.devices where device.user == user { device.retire() }
        simulation.server.maintaining = 1
        simulation.settle()
        #expect(simulation.server.faults == ["a deleted account is not erased"])
        #expect(simulation.server.storage.deletedAccounts(limit: 9) == [user])
    }

    /// A server that answers no reads leaves the devices waiting.
    @Test func aRunThatDoesNotSettleIsFound() throws {
        let simulation = try self.settled()
        simulation.server.reads = FairQueue(bounds: FairQueue.Bounds(underWay: 0, waitingOfUser: 100, waiting: 1_000))
        simulation.settle()
        #expect(simulation.server.faults == ["the run does not settle"])
        #expect(simulation.server.reads.count > 0)
    }

    /// A device that lacks events which the server does not serve asks for them in vain.
    @Test func anOlderPartThatIsNotServedIsFound() throws {
        let simulation = try self.settled()
        var isPlanted = false
        for device in simulation.devices where !device.isRetired && !isPlanted {
            for conversation in device.conversations where device.heads[conversation].map({ device.follows($0) && $0.minSeq == 1 }) == true
            {
                guard device.logs[conversation]?.count ?? 0 > 0 else { continue }
                device.heads[conversation]?.minSeq = 0
                isPlanted = true
                break
            }
        }
        try #require(isPlanted)
        simulation.settle()
        #expect(simulation.server.faults == ["the older part of a log is not served"])
    }

    /// A restart with another data epoch, and a deletion of an account, end as any other run.
    @Test func anotherEpochAndADeletedAccountSettle() throws {
        let simulation = try self.stopped(seed: 5, steps: 150)
        simulation.server.renewEpoch()
        let user = try #require(simulation.oracle.books.values.first { $0.kind == .group }?.people.first { $1.state == .joined }?.key)
        simulation.server.deleteAccount(of: user)
        for device in simulation.devices where device.user == user { device.retire() }
        simulation.settle()
        #expect(simulation.server.faults == [])
        simulation.check()
        #expect(simulation.server.faults == [])
        #expect(simulation.server.storage.deletedAccounts(limit: 1).isEmpty)
        for book in simulation.oracle.books.values {
            #expect(book.entries.allSatisfy { $0.sender != user || $0.n == 0 || $0.state.isBlank })
        }
    }
}
