import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSimulator

/// Batches of the simulated server: what a stop and a fault of the disk leave.
@Suite("Batches of the simulated server")
struct ServerBatchTests {
    private let simulation = Simulation(seed: 1)
    private var server: Server { self.simulation.server }

    init() { self.simulation.server.isLossy = false }

    /// Connects a device, and drops its first request.
    private func connect(_ index: Int = 0) throws -> Connection {
        self.simulation.connect(self.simulation.devices[index])
        let connection = try #require(self.simulation.devices[index].connection)
        connection.up.removeAll()
        return connection
    }

    /// The conversation of a user with itself, in which each test writes.
    private func notes(of connection: Connection) throws -> ConversationKey {
        try #require(self.simulation.population.own[connection.user])
    }

    private func submit(_ text: String, on connection: Connection, hash: UInt64 = 1) throws {
        let id = try #require(ClientID(text))
        let content = MessageContent(kind: .text, body: Body.json(text))
        let send = SendCommand(conversation: try self.notes(of: connection), content: .success(content))
        let command = Command(
            actor: connection.user, device: DeviceKey(Int64(connection.device)),
            request: RequestIdentity(id: id, hash: RequestHash(hash, 0, 0, 0)), action: .send(send))
        self.server.receive(.command(command, .send(id)), on: connection)
    }

    /// Takes the messages in transit. Returns the answers, each with the id of its message: its
    /// `seq`, or the code of its refusal.
    private func answers(_ connection: Connection) -> [String] {
        var answers: [String] = []
        while let message = connection.take() {
            switch message {
            case .answered(let answer, .send(let id)): answers.append("\(id.rawValue) \(answer.seq)")
            case .refused(let error, .send(let id)): answers.append("\(id.rawValue) \(error.code)")
            default: break
            }
        }
        return answers
    }

    /// The texts of the notes in the storage, which must be those of the oracle.
    private func texts(of connection: Connection) throws -> [String] {
        let key = try self.notes(of: connection)
        let views = self.server.storage.events(in: key, .from(1), as: connection.user, limit: 100)
        let texts = views.compactMap { $0.row.map { Body.text($0.body) } }
        #expect(self.simulation.oracle.books[key]?.entries.map(\.text) ?? [] == texts)
        #expect(self.server.faults == [])
        return texts
    }

    // MARK: Commits

    @Test func eachCommandOfABatchIsAnsweredInItsOrder() throws {
        let (first, second) = (try self.connect(0), try self.connect(4))
        for text in ["a", "b"] { try self.submit(text, on: first) }
        try self.submit("c", on: second)
        #expect(self.answers(first).isEmpty, "the batch is not written")
        self.server.writeBatch()
        #expect(self.answers(first) == ["a 1", "b 2"] && self.answers(second) == ["c 1"])
        #expect(try self.texts(of: first) == ["a", "b"] && self.texts(of: second) == ["c"])
        #expect(self.server.counts.batches == 1 && self.server.counts.commands == 3 && self.server.counts.events == 3)
    }

    @Test func withoutCommandsNothingIsWritten() {
        self.server.writeBatch()
        self.server.writeBatch(stop: .beforeCommit, fault: .full)
        #expect(self.server.counts.batches == 0 && self.server.life == 0)
    }

    @Test func aRepetitionHasTheSameAnswerAndAnotherRequestIsAConflict() throws {
        let connection = try self.connect()
        for _ in 0..<3 {
            try self.submit("a", on: connection)
            self.server.writeBatch()
        }
        try self.submit("a", on: connection, hash: 2)
        self.server.writeBatch()
        #expect(self.answers(connection) == ["a 1", "a 1", "a 1", "a conflict"])
        #expect(try self.texts(of: connection) == ["a"])
    }

    // MARK: Stops

    @Test func aStopBeforeTheCommitLosesTheBatch() throws {
        let connection = try self.connect()
        try self.submit("a", on: connection)
        self.server.writeBatch(stop: .beforeCommit)
        #expect(self.answers(connection).isEmpty && self.server.life == 1 && !connection.isOpenAtServer)
        #expect(try self.texts(of: connection).isEmpty && self.server.connections.isEmpty && self.server.purposes.isEmpty)
        #expect(self.server.coverage.incidents[Incident.restart.rawValue] == 1)
    }

    @Test func aStopAfterTheCommitLosesTheAnswerOnly() throws {
        let connection = try self.connect()
        try self.submit("a", on: connection)
        self.server.writeBatch(stop: .afterCommit)
        #expect(self.answers(connection).isEmpty && self.server.life == 1)
        #expect(try self.texts(of: connection) == ["a"])
        // The device asks again and learns the place of its message.
        self.simulation.disconnect(self.simulation.devices[0])
        let next = try self.connect()
        try self.submit("a", on: next)
        self.server.writeBatch()
        #expect(self.answers(next) == ["a 1"])
        #expect(try self.texts(of: next) == ["a"])
    }

    @Test func aStopAfterTheAnswersPushesNothing() throws {
        let (first, second) = (try self.connect(0), try self.connect(1))
        try #require(first.user == second.user, "the first two devices belong to one user")
        try self.submit("a", on: first)
        self.server.writeBatch(stop: .afterAcks)
        #expect(self.answers(first) == ["a 1"] && second.down.isEmpty && self.server.life == 1)
        #expect(try self.texts(of: first) == ["a"])
    }

    // MARK: Faults of the disk

    /// A conflict with another process is decided again at once.
    @Test func contentionIsNotReported() throws {
        let connection = try self.connect()
        try self.submit("a", on: connection)
        self.server.writeBatch(fault: .contention)
        #expect(self.answers(connection) == ["a 1"] && self.server.committer.health == .writable)
        #expect(try self.texts(of: connection) == ["a"])
        #expect(self.server.coverage.incidents[Incident.diskFault.rawValue] == 1)
    }

    @Test func aFullDiskRefusesUntilItCanBeWritten() throws {
        let connection = try self.connect()
        try self.submit("a", on: connection)
        self.server.writeBatch(fault: .full)
        try self.submit("b", on: connection)
        self.server.writeBatch()
        #expect(self.answers(connection) == ["a storage", "b storage"])
        #expect(try self.texts(of: connection).isEmpty && self.server.committer.health == .readOnly(.full))
        self.server.probe(life: 0, isWritable: false)
        #expect(self.server.committer.health != .writable)
        self.server.probe(life: 0, isWritable: true)
        #expect(self.server.committer.health == .writable)
        // The removed members of a batch that may have been written must not stay connected.
        #expect(!connection.isOpenAtServer && self.server.connections.isEmpty)
    }

    /// After a failed sync, the batch can be in the log although its commands were refused. A
    /// repetition finds it.
    @Test(arguments: [true, false]) func aFailedSyncIsNeverAnAcknowledgement(isWritten: Bool) throws {
        let connection = try self.connect()
        try self.submit("a", on: connection)
        self.server.writeBatch(fault: .io(isWritten: isWritten))
        #expect(self.answers(connection) == ["a unavailable"] && self.server.hasUntold == isWritten)
        #expect(try self.texts(of: connection) == (isWritten ? ["a"] : []))
        self.server.probe(life: 0, isWritable: true)
        #expect(!self.server.hasUntold)
        self.simulation.disconnect(self.simulation.devices[0])
        let next = try self.connect()
        try self.submit("a", on: next)
        self.server.writeBatch()
        #expect(self.answers(next) == ["a 1"])
        #expect(try self.texts(of: next) == ["a"])
    }

    @Test func aTestOfAnEarlierLifeIsIgnored() throws {
        let connection = try self.connect()
        try self.submit("a", on: connection)
        self.server.writeBatch(fault: .full)
        self.server.restart()
        #expect(self.server.committer.health == .writable)
        self.server.probe(life: 0, isWritable: false)
        #expect(self.server.committer.health == .writable)
    }

    // MARK: Requests

    @Test func tooManyReadingRequestsAreRefusedByTheirKind() throws {
        let connection = try self.connect()
        let history = HistoryRequest(conversation: ConversationID(number: 1), range: .newest)
        for _ in 0..<FairQueue<Int>.Bounds.reads.waitingOfUser {
            self.server.receive(.history(history, isScroll: false), on: connection)
        }
        #expect(connection.down.isEmpty)
        self.server.receive(.hello(since: nil, epoch: nil), on: connection)
        self.server.receive(.sync(SyncRequest()), on: connection)
        self.server.receive(.history(history, isScroll: true), on: connection)
        var refusals: [String] = []
        while let message = connection.take() {
            switch message {
            case .helloRefused(let error): refusals.append("hello \(error.code) \(error.retryAfter ?? 0)")
            case .syncRefused(let error): refusals.append("sync \(error.code) \(error.retryAfter ?? 0)")
            case .historyRefused(let error, _, isScroll: true): refusals.append("scroll \(error.code) \(error.retryAfter ?? 0)")
            default: refusals.append("other")
            }
        }
        #expect(refusals == ["hello tooMany 1000", "sync tooMany 1000", "scroll tooMany 1000"])
        // The reading requests of another user are admitted.
        let other = try self.connect(4)
        try #require(other.user != connection.user)
        self.server.receive(.sync(SyncRequest()), on: other)
        #expect(other.down.isEmpty && self.server.reads.count == FairQueue<Int>.Bounds.reads.waitingOfUser + 1)
    }

    /// Each attempt to create a conversation or a link has a new key, so that a repetition does not
    /// reuse the key of another attempt.
    @Test func eachAttemptDrawsAKey() {
        var keys: Set<ConversationKey> = []
        for _ in 0..<3 {
            for action in [
                .openPair(peer: UserKey(2), new: ConversationKey(0)),
                .create(CreateCommand(profile: ConversationProfile(), members: [], new: ConversationKey(0))),
            ] as [Command.Action] {
                var command = Command(actor: UserKey(1), device: DeviceKey(0), request: nil, action: action)
                self.server.drawKey(for: &command)
                switch command.action {
                case .openPair(peer: UserKey(2), let new): keys.insert(new)
                case .create(let create): keys.insert(create.new)
                default: Issue.record("\(command.action)")
                }
            }
            var link = Command(
                actor: UserKey(1), device: DeviceKey(0), request: nil, action: .createLink(ConversationKey(9), LinkTerms(code: "")))
            self.server.drawKey(for: &link)
        }
        #expect(keys.count == 6 && self.server.rooms.count == 6 && !keys.contains(ConversationKey(0)))
        #expect(self.server.codes.map(\.code) == ["link0", "link1", "link2"])
        #expect(self.server.codes.allSatisfy { $0.conversation == ConversationKey(9) })
    }
}
