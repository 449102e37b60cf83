import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatSimulator

/// The checks that the server of a run makes while the run goes on. Each check finds its fault, and
/// finds none in the same state without the fault.
@Suite("Checks of the server during a run")
struct ServerCheckTests {
    private let simulation = Simulation(seed: 1)
    private var server: Server { self.simulation.server }

    private func connection(of index: Int = 0) throws -> Connection {
        let device = self.simulation.devices[index]
        self.simulation.connect(device)
        return try #require(device.connection)
    }

    private static func push(_ seq: Int64 = 1, in number: Int64 = 7) -> Message {
        .events(
            EventPush(events: [
                ChatEvent(
                    conversation: ConversationID(number: number), seq: seq, n: seq, sender: nil, id: nil, at: 1, kind: .text, body: [:])
            ]))
    }

    /// A group of the oracle, of which a user is a member.
    private func group(of user: UserKey) -> Book {
        let book = Book(key: ConversationKey(77), kind: .group, settings: ConversationSettings())
        book.people[user] = Person(state: .joined, role: .owner)
        self.simulation.oracle.books[book.key] = book
        return book
    }

    private func grow(_ book: Book, by user: UserKey) {
        let seq = book.lastSeq + 1
        book.entries.append(Entry(seq: seq, n: seq, sender: user, kind: .text, ref: 0, text: "text \(seq)", at: 1))
    }

    // MARK: Connections that do not read

    /// The stall must come at the latest at twice its bound.
    @Test(arguments: [(1, false), (15, false), (16, true), (40, true)])
    func aConnectionThatDoesNotReadMustBeStalled(events: Int, isFault: Bool) throws {
        let connection = try self.connection()
        for seq in 1...Int64(events) { connection.send(Self.push(seq)) }
        self.server.checkReader(of: connection)
        #expect(self.server.faults == (isFault ? ["connection 1 does not read and is not stalled"] : []))
        self.server.faults = []
        while connection.take() != nil {}
        self.server.checkReader(of: connection)
        #expect(self.server.faults.isEmpty, "it has read everything")
    }

    /// The rest of the batch in which the connection stalled is still pushed.
    @Test func aStalledConnectionGetsNoPushOfALaterBatch() throws {
        let connection = try self.connection()
        self.server.stall(connection)
        try #require(self.server.router.isStalled(connection.key))
        for seq in 1...40 as ClosedRange<Int64> { connection.send(Self.push(seq)) }
        self.server.checkReader(of: connection)
        #expect(self.server.faults.isEmpty)
        self.server.counts.batches += 1
        self.server.checkReader(of: connection)
        #expect(self.server.faults == ["connection 1 is stalled and gets a push"])
    }

    /// The states in which a connection is owed a position, and those in which it is not.
    private static let debts: [(name: String, isOwed: Bool, change: @Sendable (Server, Connection, Book) -> Void)] = [
        ("owed", true, { _, _, _ in }), ("told", false, { _, connection, book in connection.stall.owed.remove(book.key) }),
        ("stalled again", false, { server, connection, _ in server.stall(connection) }),
        ("another stall", false, { _, connection, _ in connection.stall.due += 1 }),
        ("closed", false, { server, connection, _ in server.close(connection) }),
        ("left", false, { _, connection, book in book.people[connection.user]?.state = .left }),
        ("a user of no conversation", false, { _, connection, book in book.people[connection.user] = nil }),
        ("events that no connection received", false, { server, _, _ in server.hasUntold = true }),
    ]

    @Test(arguments: Self.debts.indices) func aPositionAfterAStallIsOwed(index: Int) throws {
        let connection = try self.connection()
        let book = self.group(of: connection.user)
        (connection.stall.due, connection.stall.owed) = (50, [book.key])
        Self.debts[index].change(self.server, connection, book)
        self.server.checkOwed(connection.key, due: 50)
        let expected = "connection 1 was not told after its stall that \(ConversationID(number: 77)) grew"
        #expect(self.server.faults == (Self.debts[index].isOwed ? [expected] : []), "\(Self.debts[index].name)")
        self.server.faults = []
        // A debt is reported once.
        self.server.checkOwed(connection.key, due: 50)
        #expect(self.server.faults.isEmpty)
    }

    /// A connection that reads again is owed what grew during its stall, by the next frame.
    @Test(arguments: [(true, true), (false, false)]) func aConnectionThatReadsAgainReceivesTheGrownLogs(grows: Bool, isOwed: Bool) throws {
        let connection = try self.connection()
        let book = self.group(of: connection.user)
        self.grow(book, by: UserKey(50))
        self.server.stall(connection)
        if grows { self.grow(book, by: UserKey(50)) }
        self.server.taken(from: connection)
        #expect(connection.stall.owed.isEmpty, "the transport was not asked")
        connection.ask()
        self.server.taken(from: connection)
        #expect(!self.server.router.isStalled(connection.key) && connection.stall.owed == (isOwed ? [book.key] : []))
        self.simulation.clock.advance(CoalescedHeads.interval + 1)
        self.simulation.fireTimers()
        #expect(self.server.faults.count == (isOwed ? 1 : 0), "\(self.server.faults)")
    }

    @Test func aConnectionThatNeverReadsIsClosed() throws {
        let connection = try self.connection()
        self.server.stall(connection)
        self.simulation.clock.advance(PushRouter.stallLimit - 1)
        self.simulation.fireTimers()
        #expect(connection.isOpenAtServer)
        self.simulation.clock.advance(1)
        self.simulation.fireTimers()
        #expect(!connection.isOpenAtServer && self.server.connections.isEmpty)
        #expect(self.server.coverage.incidents[Incident.slowClose.rawValue] == 1)
    }

    // MARK: What is served

    @Test func eventsOfAnUnknownConversationAreFound() {
        let event = ChatEvent(
            conversation: ConversationID(number: 9), seq: 1, n: 1, sender: nil, id: nil, at: 1, kind: .text, body: [:])
        self.server.check([], to: UserKey(1))
        #expect(self.server.faults.isEmpty)
        self.server.check([event], to: UserKey(1))
        #expect(self.server.faults == ["served to 1: \(ConversationID(number: 9)), of which it knows nothing"])
    }

    @Test func eachWrongEventOfAPageIsFound() throws {
        let user = UserKey(1)
        let book = self.group(of: user)
        for _ in 1...3 { self.grow(book, by: user) }
        func event(_ seq: Int64, _ text: String) -> ChatEvent {
            ChatEvent(
                conversation: ConversationID(number: 77), seq: seq, n: seq, sender: self.simulation.oracle.name(of: user), id: nil, at: 1,
                kind: .text, body: ["text": .string(text)])
        }
        let right = (1...3 as ClosedRange<Int64>).map { event($0, "text \($0)") }
        self.server.check(right, to: user)
        #expect(self.server.faults.isEmpty)
        self.server.check([right[0], event(2, "other"), event(3, "text 2")], to: user)
        #expect(self.server.faults.map { $0.contains("event 2 has the text other") } == [true, false])
        #expect(self.server.faults.last?.contains("event 3 has the text text 2") == true)
        // A user who was never a member receives nothing about the conversation.
        self.server.faults = []
        self.server.check(right, to: UserKey(2))
        #expect(self.server.faults.count == 1 && self.server.faults[0].hasSuffix("of which it knows nothing"))
    }

    @Test func aWrongHeadIsFoundWhenItIsServed() throws {
        self.simulation.begin()
        try #require(self.server.faults == [])
        let book = try #require(self.simulation.oracle.books.values.filter { $0.kind == .group }.min { $0.key < $1.key })
        let (user, person) = try #require(book.people.first { $1.state == .joined && $1.role == .owner })
        let row = try #require(self.server.storage.head(of: user, in: book.key))
        _ = self.server.head(row, to: user)
        #expect(self.server.faults == [])
        person.role = .guest
        _ = self.server.head(row, to: user)
        #expect(self.server.faults.count == 1 && self.server.faults[0].contains("says joined owner instead of joined guest"))
        // A conversation that the user deleted has no head to compare.
        self.server.faults = []
        var gone = row
        gone.member.isGone = true
        _ = self.server.head(gone, to: user)
        #expect(self.server.faults == [])
    }

    // MARK: Decisions

    /// A run that began, with the owner of a group.
    private func begun() throws -> (owner: UserKey, book: Book) {
        self.simulation.begin()
        try #require(self.server.faults == [])
        let book = try #require(self.simulation.oracle.books.values.filter { $0.kind == .group }.min { $0.key < $1.key })
        return (try #require(book.people.first { $1.state == .joined && $1.role == .owner }).key, book)
    }

    private func text(_ text: String, in book: Book) -> Command.Action {
        .send(SendCommand(conversation: book.key, content: .success(MessageContent(kind: .text, body: Body.json(text)))))
    }

    @Test(arguments: [true, false]) func aDecisionThatDiffersFromTheOracleIsFound(differs: Bool) throws {
        let (owner, book) = try self.begun()
        if differs { book.people[owner]?.silencedUntil = .max }
        let command = self.simulation.command(owner, try #require(ClientID("x")), self.text("unique", in: book))
        #expect(self.server.sequencer.enqueue(command, number: 0) == nil)
        self.server.writeBatch()
        #expect(self.server.faults.count == (differs ? 1 : 0))
        if differs { #expect(self.server.faults[0].hasPrefix("the decision on ") && self.server.faults[0].contains("instead of")) }
    }

    /// The oracle itself reports what no rule permits, and the run ends with it.
    @Test func aFaultOfTheOracleEndsTheRun() throws {
        let (owner, book) = try self.begun()
        for id in ["x", "y"] {
            let command = self.simulation.command(owner, try #require(ClientID(id)), self.text("the same", in: book))
            #expect(self.server.sequencer.enqueue(command, number: 0) == nil)
        }
        self.server.writeBatch()
        #expect(self.server.faults == ["the same of user \(owner.rawValue) is in the log twice"])
    }

    private enum Answer: Equatable { case none, accepted, temporary }

    /// Where the server stops or the disk fails, whether the message is in the log, and what the
    /// device receives.
    private static let failures: [(name: String, stop: Server.Stop?, fault: Server.DiskFault?, isWritten: Bool, answer: Answer)] = [
        ("no failure", nil, nil, true, .accepted), ("stop before the commit", .beforeCommit, nil, false, .none),
        ("stop after the commit", .afterCommit, nil, true, .none), ("stop after the answers", .afterAcks, nil, true, .accepted),
        ("full disk", nil, .full, false, .temporary), ("contention", nil, .contention, true, .accepted),
        ("failed sync", nil, .io(isWritten: false), false, .temporary),
        ("failed sync of a written batch", nil, .io(isWritten: true), true, .temporary),
    ]

    @Test(arguments: Self.failures.indices) func aFailureBelongsToItsPlace(index: Int) throws {
        let failure = Self.failures[index]
        let (owner, book) = try self.begun()
        let place = try #require(self.simulation.devices.firstIndex { $0.user == owner })
        if self.simulation.devices[place].connection == nil { self.simulation.connect(self.simulation.devices[place]) }
        let connection = try #require(self.simulation.devices[place].connection)
        let (life, last) = (self.server.life, book.lastSeq)
        let id = try #require(ClientID("x"))
        let command = self.simulation.command(owner, device: place, id, self.text("unique", in: book))
        self.server.receive(.command(command, .send(id)), on: connection)
        self.server.writeBatch(stop: failure.stop, fault: failure.fault)
        let views = self.server.storage.events(in: book.key, .from(last + 1), as: owner, limit: 10)
        #expect(views.contains { $0.row.map { Body.text($0.body) } == "unique" } == failure.isWritten, "\(failure.name)")
        // The oracle follows the log, and not the answers.
        #expect(book.lastSeq == (failure.isWritten ? last + 1 : last), "\(failure.name)")
        var answer = Answer.none
        while let message = connection.take() {
            switch message {
            case .answered: answer = .accepted
            case .refused(let error, _): answer = error.code.isTemporary ? .temporary : .none
            default: break
            }
        }
        #expect(answer == failure.answer, "\(failure.name)")
        #expect(self.server.life == (failure.stop == nil ? life : life + 1) && connection.isOpenAtServer == (failure.stop == nil))
        #expect(self.server.hasUntold == (failure.isWritten && failure.answer == .temporary), "\(failure.name)")
        #expect(self.server.faults == [], "\(failure.name)")
    }

    /// Timers of an earlier life of the server have no effect.
    @Test func timersEndWithTheirServer() throws {
        let connection = try self.connection()
        let life = self.server.life
        self.server.restart()
        #expect(self.server.life == life + 1 && !connection.isOpenAtServer && self.server.connections.isEmpty)
        let waiting = self.server.sequencer.count
        self.server.pageArrived(life: life, EventAddress(ConversationKey(1_001), 1), body: Body.json("link 1"))
        #expect(self.server.sequencer.count == waiting)
        self.server.pageArrived(life: life + 1, EventAddress(ConversationKey(1_001), 1), body: Body.json("link 1"))
        #expect(self.server.sequencer.count == waiting + 1)
    }

    // MARK: Calls

    /// A pair of the oracle with a running call of the user of a connection.
    private func call(of connection: Connection) -> EventAddress {
        let book = Book(key: ConversationKey(88), kind: .pair, settings: ConversationSettings())
        book.people[connection.user] = Person(state: .joined, role: .member)
        let entry = Entry(seq: 1, n: 1, sender: connection.user, kind: .call, ref: 0, text: "", at: 1)
        entry.call = Call(state: .accepted, acceptedAt: 1)
        book.entries.append(entry)
        self.simulation.oracle.books[book.key] = book
        return EventAddress(book.key, 1)
    }

    @Test(arguments: [(CallState.ended, true, true), (.ended, false, false), (.missed, true, false)])
    func theServerEndsNoCallOfAConnectedDevice(state: CallState, isConnected: Bool, isFault: Bool) throws {
        let connection = try self.connection()
        let call = self.call(of: connection)
        self.simulation.oracle.callers[call] = [DeviceKey(Int64(connection.device)): connection.user]
        if !isConnected { self.server.close(connection) }
        self.server.perform([.report(call, state)])
        #expect(self.server.faults == (isFault ? ["the server ends the call 1 in 88, although one of its devices is connected"] : []))
    }

    @Test func theDevicesOfACallAreCompared() throws {
        let connection = try self.connection()
        let call = self.call(of: connection)
        let change = CallChange(call: call, .state(.accepted, joined: nil), isGroup: false)
        self.server.checkDevices(of: [change])
        #expect(self.server.faults == [], "neither knows a device")
        self.simulation.oracle.callers[call] = [DeviceKey(0): connection.user]
        self.server.checkDevices(of: [change])
        #expect(self.server.faults.count == 1 && self.server.faults[0].hasPrefix("the call 1 in 88 has "))
        // A call that has ended has no devices to compare.
        self.server.faults = []
        self.simulation.oracle.books[call.conversation]?.entries[0].call?.state = .ended
        self.server.checkDevices(of: [change])
        #expect(self.server.faults == [])
    }
}
