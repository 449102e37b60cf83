import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSimulator

/// The periodic work of the simulated server, and its clock.
@Suite("Periodic work of the simulated server")
struct ServerJobTests {
    private let simulation = Simulation(seed: 1)
    private var server: Server { self.simulation.server }
    private let user = UserKey(1)

    init() { self.simulation.server.isLossy = false }

    private func notes() throws -> ConversationKey { try #require(self.simulation.population.own[self.user]) }

    private func write(_ action: Command.Action) {
        self.server.enqueue(action, by: self.user)
        self.server.writeBatch()
    }

    private func send(_ text: String) throws {
        let id = try #require(self.simulation.id())
        let send = SendCommand(conversation: try self.notes(), content: .success(MessageContent(kind: .text, body: Body.json(text))))
        _ = self.server.sequencer.enqueue(self.simulation.command(self.user, id, .send(send)), number: 0)
        self.server.writeBatch()
    }

    private func states() throws -> [EventState] {
        self.server.storage.events(in: try self.notes(), .from(1), as: self.user, limit: 100).compactMap { $0.row?.state }
    }

    /// Schedules a message of the user.
    private func schedule(_ text: String, after delay: Int64) throws {
        let id = try #require(ClientID(text))
        let body = Body.json(text)
        let send = SendCommand(conversation: try self.notes(), content: .success(MessageContent(kind: .text, body: body)))
        let command = Command(
            actor: self.user, device: DeviceKey(0), request: RequestIdentity(id: id, hash: RequestHash(1, 0, 0, 0)),
            action: .schedule(ScheduleCommand(send: send, kind: .text, body: body, sendAt: self.simulation.clock.wall + delay)))
        _ = self.server.sequencer.enqueue(command, number: 0)
        self.server.writeBatch()
        try #require(self.server.storage.scheduled(of: self.user, limit: 10).contains { Body.text($0.body) == text })
    }

    private func texts() throws -> [String] {
        self.server.storage.events(in: try self.notes(), .from(1), as: self.user, limit: 100).compactMap { view in
            view.row.flatMap { $0.isMessage ? Body.text($0.body) : nil }
        }
    }

    private func run() {
        self.server.maintain()
        while self.server.sequencer.count > 0 { self.server.writeBatch() }
    }

    @Test func aScheduledMessageIsSentAtItsTime() throws {
        try self.schedule("later", after: 5_000)
        self.simulation.clock.advance(4_900)
        self.run()
        #expect(try self.texts().isEmpty)
        self.simulation.clock.advance(1_100)
        self.run()
        #expect(try self.texts() == ["later"] && self.server.storage.scheduled(of: self.user, limit: 10).isEmpty)
        self.run()
        #expect(try self.texts() == ["later"] && self.server.faults == [])
    }

    /// After a jump of the clock, no message is sent or removed because of its time.
    @Test(arguments: [31_536_000_000, -31_536_000_000] as [Int64]) func aClockThatJumpedDoesNoWork(distance: Int64) throws {
        try self.schedule("later", after: 5_000)
        try self.send("old")
        self.simulation.clock.jump(distance)
        self.simulation.clock.advance(60_000)
        self.run()
        self.server.retain(try self.notes(), milliseconds: 1)
        #expect(self.server.sequencer.count == 0 && !self.server.stamps.isTrusted)
        #expect(try self.texts() == ["old"] && self.states() == [.normal])
        // A restart trusts the clock.
        self.server.restart()
        #expect(self.server.stamps.isTrusted)
    }

    /// The commands of a job that could not be written are submitted again.
    @Test func aJobThatFailedIsRepeated() throws {
        try self.schedule("later", after: 1_000)
        self.simulation.clock.advance(2_000)
        self.server.maintain()
        #expect(self.server.maintaining == 1)
        // A further job waits for the first one.
        self.server.maintain()
        #expect(self.server.maintaining == 1 && self.server.sequencer.count == 1)
        self.server.writeBatch(fault: .full)
        #expect(try self.server.maintaining == 0 && self.texts().isEmpty)
        self.server.probe(life: 0, isWritable: true)
        self.run()
        #expect(try self.texts() == ["later"] && self.server.faults == [])
    }

    @Test func theContentOfOldMessagesIsRemoved() throws {
        try self.send("old")
        self.simulation.clock.advance(10_000)
        try self.send("new")
        self.server.retain(try self.notes(), milliseconds: 60_000)
        #expect(self.server.sequencer.count == 0)
        self.server.retain(try self.notes(), milliseconds: 5_000)
        self.server.writeBatch()
        #expect(try self.states() == [.expired, .normal] && self.server.faults == [])
    }

    // MARK: Linked pages

    private func pages() -> Int {
        var count = 0
        while let entry = self.simulation.agenda.next(at: .max) { if case .page = entry { count += 1 } }
        return count
    }

    @Test(arguments: [("link 1", 1), ("text 1", 0), ("a link", 0)]) func onlyATextWithALinkHasAPage(text: String, count: Int) throws {
        try self.send(text)
        #expect(self.pages() == count)
    }

    @Test func aPageIsAddedToTheTextForWhichItWasRequested() throws {
        try self.send("link 1")
        let target = EventAddress(try self.notes(), 1)
        self.server.pageArrived(life: 0, target, body: Body.json("link 1"))
        self.server.writeBatch()
        let row = try #require(self.server.storage.events(in: target.conversation, .from(1), as: self.user, limit: 1).first?.row)
        #expect(Body.text(row.body) == "link 1" && Body.title(row.body) == "page of link 1")
        // The same page again, the page of another text, and the page for an earlier life.
        self.server.pageArrived(life: 0, target, body: Body.json("link 1"))
        self.server.pageArrived(life: 0, target, body: Body.json("link 2"))
        self.server.pageArrived(life: 7, target, body: row.body)
        #expect(self.server.sequencer.count == 2)
        self.server.writeBatch()
        #expect(self.server.storage.events(in: target.conversation, .from(1), as: self.user, limit: 1).first?.row?.body == row.body)
        #expect(self.server.coverage.incidents[Incident.voidPreview.rawValue] == 2 && self.server.faults == [])
    }

    // MARK: Accounts and epochs

    @Test func aDeletedAccountHasNoConnectionAndIsErased() throws {
        try self.send("secret")
        for device in self.simulation.devices { self.simulation.connect(device) }
        let own = self.server.connections.values.filter { $0.user == self.user }
        try #require(own.count >= 2)
        self.server.deleteAccount(of: self.user)
        #expect(own.allSatisfy { !$0.isOpenAtServer && $0.up.isEmpty })
        #expect(!self.server.connections.values.contains { $0.user == self.user } && !self.server.connections.isEmpty)
        #expect(self.simulation.oracle.deleted == [self.user])
        for _ in 0..<20 {
            self.simulation.clock.advance(1_000)
            self.run()
        }
        #expect(self.server.storage.deletedAccounts(limit: 1).isEmpty && self.server.faults == [])
        #expect(self.server.coverage.incidents[Incident.erasedAccount.rawValue] == 1)
    }

    @Test func anotherEpochRefusesTheTokensOfTheEarlierOne() throws {
        let device = self.simulation.devices[0]
        self.simulation.connect(device)
        self.simulation.moveTraffic(visits: .max, all: true)
        self.server.serveReads(64)
        self.simulation.moveTraffic(visits: .max, all: true)
        let (epoch, token) = (try #require(device.epoch), try #require(device.token))
        self.simulation.clock.advance(1)
        self.server.renewEpoch()
        #expect(self.server.life == 1 && self.server.storage.epoch != epoch.rawValue)
        let connection = Connection(key: SocketKey(900), device: 0, user: device.user)
        self.server.accept(connection)
        self.server.receive(.hello(since: token, epoch: epoch), on: connection)
        self.server.receive(.sync(SyncRequest(since: token)), on: connection)
        self.server.serveReads(64)
        guard case .hello(let answer)? = connection.take(), case .syncRefused(let error)? = connection.take() else {
            Issue.record("the server did not answer")
            return
        }
        #expect(answer.sync == nil && answer.epoch.rawValue == self.server.storage.epoch && error.code == .resync)
    }

    // MARK: Sync

    /// Heads are served in pages with one token, which is that of the first page.
    @Test func headsAreServedInPages() throws {
        for number in 0..<14 as Range<Int64> {
            self.write(.create(CreateCommand(profile: ConversationProfile(), members: [], new: ConversationKey(5_000 + number))))
        }
        let connection = Connection(key: SocketKey(900), device: 0, user: self.user)
        self.server.accept(connection)
        var request = SyncRequest()
        var (heads, tokens): ([ConversationID], [PageToken]) = ([], [])
        for _ in 0..<10 {
            self.server.receive(.sync(request), on: connection)
            self.server.serveReads(64)
            guard case .sync(let answer)? = connection.take() else {
                Issue.record("no answer")
                return
            }
            heads += answer.heads.map(\.conversation)
            tokens.append(answer.token)
            #expect(answer.heads.count <= 6)
            guard let page = answer.page else { break }
            request = SyncRequest(page: page)
        }
        #expect(Set(heads).count == heads.count && heads.count == 15, "fourteen groups and the notes")
        #expect(Set(tokens).count == 1 && tokens.count == 3 && self.server.faults == [])
    }
}
