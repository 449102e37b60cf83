import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

/// Scheduled messages.
@Suite struct ScheduleTests {
    let world = World()
    let ann: UserKey
    let bob: UserKey
    let group: ConversationKey

    init() {
        self.ann = self.world.user("ann")
        self.bob = self.world.user("bob")
        self.group = self.world.conversation(owner: self.ann, members: [self.bob])
    }

    private func schedule(in milliseconds: Int64, id: String? = nil, hash: UInt64 = 1, by user: UserKey? = nil) -> Command {
        let body = "{\"text\":\"later\"}"
        let send = SendCommand(conversation: self.group, content: .success(MessageContent(kind: .text, body: body)))
        let command = ScheduleCommand(send: send, kind: .text, body: body, sendAt: self.world.now + milliseconds)
        return self.world.command(user ?? self.bob, .schedule(command), id: id, hash: hash)
    }

    private var rows: [ScheduledRow] { self.world.storage.scheduled(of: self.bob, limit: 200) }

    @Test func aMessageIsSentWhenItsTimeHasCome() throws {
        #expect(try self.world.run(self.schedule(in: 1_000, id: "s")).answer?.seq == 0)
        self.world.now += 999
        try self.world.maintain()
        #expect(self.world.bodies(self.ann, in: self.group).isEmpty && self.rows.count == 1)
        self.world.now += 1
        try self.world.maintain()
        #expect(self.world.bodies(self.ann, in: self.group) == ["{\"text\":\"later\"}"] && self.rows.isEmpty)
        let row = self.world.storage.events(in: self.group, .from(1), as: self.ann, limit: 1).first?.row
        #expect(row?.sender == self.bob && row?.clientID?.rawValue == "s" && row?.at == self.world.now)
    }

    @Test func aDueMessageIsSentOnce() throws {
        try self.world.run(self.schedule(in: 1, id: "s"))
        self.world.now += 1
        let row = try #require(self.rows.first)
        let send = SendCommand(conversation: self.group, content: .success(MessageContent(kind: row.kind, body: row.body)))
        let command = Command(actor: self.bob, device: DeviceKey(0), request: nil, action: .sendScheduled(row.address, send))
        #expect(try self.world.run([command, command]).map(\.answer?.seq) == [1, 0])
        #expect(try self.world.run(command).answer?.seq == 0)
        #expect(self.world.bodies(self.ann, in: self.group).count == 1)
    }

    @Test func aScheduleReadsNothing() throws {
        try self.world.run(self.schedule(in: 1))
        try self.world.run(self.world.text(self.ann, self.group))
        self.world.now += 1
        try self.world.maintain()
        #expect(self.world.unread(self.bob, in: self.group) == 1)
    }

    @Test func onlyFutureTimesAreAccepted() throws {
        #expect(try self.world.run(self.schedule(in: 0)).code == .badRequest)
        #expect(try self.world.run(self.schedule(in: -5)).code == .badRequest)
        #expect(try self.world.run(self.schedule(in: 400 * 86_400_000)).code == .badRequest)
        #expect(try self.world.run(self.schedule(in: 1, by: self.world.user("eve"))).code == .notFound)
    }

    @Test func anIDIsUsedOnceAndTheNumberIsBounded() throws {
        let first = self.schedule(in: 5, id: "s")
        #expect(try self.world.run([first, first]).map(\.code) == [nil, nil])
        #expect(self.rows.count == 1)
        #expect(try self.world.run(self.schedule(in: 5, id: "s", hash: 2)).code == .conflict)
        let others = (1...ChatLimits.scheduledMessages).map { _ in self.schedule(in: 5) }
        let codes = try self.world.run(others).map(\.code)
        #expect(codes.dropLast().allSatisfy { $0 == nil } && codes.last == .limit)
        #expect(self.rows.count == ChatLimits.scheduledMessages)
    }

    @Test func aScheduledMessageIsRemoved() throws {
        try self.world.run(self.schedule(in: 5, id: "s"))
        let id = try #require(ClientID("s"))
        #expect(try self.world.run(self.world.command(self.ann, .unschedule(id))).code == .notFound)
        let decisions = try self.world.run([
            self.world.command(self.bob, .unschedule(id)), self.world.command(self.bob, .unschedule(id)),
        ])
        #expect(decisions.map(\.code) == [nil, .notFound] && self.rows.isEmpty)
        self.world.now += 5
        try self.world.maintain()
        #expect(self.world.bodies(self.ann, in: self.group).isEmpty)
    }

    @Test func aRefusalIsKeptAndATemporaryOneRepeated() throws {
        try self.world.run([self.schedule(in: 5), self.schedule(in: 6)])
        self.world.now += 5
        let slow = ConversationSettingsChange.slow(10)
        var update = ConversationUpdate()
        update.settings = slow
        try self.world.run(self.world.command(self.ann, .set(self.group, update)))
        try self.world.maintain()
        self.world.now += 1
        var maintenance = Maintenance()
        let due = try maintenance.next(self.world.storage, at: self.world.now) { row in
            SendCommand(conversation: row.conversation, content: .success(MessageContent(kind: row.kind, body: row.body)))
        }
        #expect(try self.world.run(due).map(\.code) == [nil] && self.rows.map(\.failure) == [""])
        #expect(self.rows.map(\.sendAt) == [self.world.now + 9_999], "as soon as slow mode permits")
        try self.world.run(self.world.command(self.ann, .remove(self.group, [self.bob])))
        self.world.now += 10_000
        try self.world.maintain()
        #expect(self.rows.map(\.failure) == ["forbidden"])
    }
}

extension ConversationSettingsChange {
    fileprivate static func slow(_ seconds: Int64) -> Self {
        var change = Self()
        change.slow = seconds
        return change
    }
}
