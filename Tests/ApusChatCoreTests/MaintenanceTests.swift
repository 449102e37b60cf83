import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

/// The maintenance of the server when its commands cannot be written.
@Suite struct MaintenanceTests {
    private let world = World()
    private let ann: UserKey
    private let bob: UserKey
    private let group: ConversationKey

    init() {
        self.ann = self.world.user("ann")
        self.bob = self.world.user("bob")
        self.group = self.world.conversation(owner: self.ann, members: [self.bob])
    }

    /// Schedules a message that is due now.
    private func schedule(_ id: String) throws {
        let body = "{\"text\":\"\(id)\"}"
        let send = SendCommand(conversation: self.group, content: .success(MessageContent(kind: .text, body: body)))
        let command = ScheduleCommand(send: send, kind: .text, body: body, sendAt: self.world.now + 1)
        try self.world.run(self.world.command(self.ann, .schedule(command), id: id))
        self.world.now += 1
    }

    private func next(_ maintenance: inout Maintenance) throws -> [Command] {
        try maintenance.next(self.world.storage, at: self.world.now) { row in
            SendCommand(conversation: row.conversation, content: .success(MessageContent(kind: row.kind, body: row.body)))
        }
    }

    private func refuse(_ index: Int, of maintenance: inout Maintenance) -> Bool { maintenance.refused(index, at: self.world.now) }

    /// Runs the maintenance until nothing is due, or a refusal ends it. Refuses the commands for
    /// which `fails` returns true.
    ///
    /// - Returns: The names of the refused commands.
    private func run(_ maintenance: inout Maintenance, where fails: (Command) -> Bool) throws -> [String] {
        var refused: [String] = []
        for _ in 0..<1_000 {
            let commands = try self.next(&maintenance)
            guard !commands.isEmpty else { return refused }
            for (index, command) in commands.enumerated() where !maintenance.isPostponed(index) {
                if fails(command) {
                    refused.append(command.name)
                    guard maintenance.refused(index, at: self.world.now) else { return refused }
                } else {
                    try self.world.run(command)
                }
            }
        }
        throw ChatError(.internal, message: "The maintenance does not end.")
    }

    private func expireMessages(_ count: Int) throws -> [EventAddress] {
        var update = ConversationUpdate()
        update.settings.expire = 60
        try self.world.run(self.world.command(self.ann, .set(self.group, update)))
        let seqs = try (0..<count).map { try #require(try self.world.run(self.world.text(self.bob, self.group, "m\($0)")).answer?.seq) }
        self.world.now += 60_000
        return seqs.map { EventAddress(self.group, $0) }
    }

    // MARK: The order of repetitions

    @Test func aRefusedCommandIsRepeatedAfterATimeThatDoublesUpToAMinute() throws {
        try self.schedule("s")
        var maintenance = Maintenance()
        var times: [Int64] = []
        let start = self.world.now
        for _ in 0..<400 {
            if try !self.run(&maintenance, where: { _ in true }).isEmpty { times.append((self.world.now - start) / 1_000) }
            self.world.now += 1_000
        }
        #expect(times == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363])
    }

    @Test func theOtherWorkOfItsKindContinues() throws {
        for id in ["s1", "s2", "s3", "s4", "s5"] { try self.schedule(id) }
        var maintenance = Maintenance(pageLimit: 2)
        #expect(try self.run(&maintenance, where: { $0.name == "send s1" }) == ["send s1"])
        #expect(self.world.bodies(self.bob, in: self.group) == ["s2", "s3", "s4", "s5"].map { "{\"text\":\"\($0)\"}" })
        self.world.now += 999
        #expect(try self.run(&maintenance, where: { _ in false }).isEmpty)
        #expect(self.world.storage.scheduled(of: self.ann, limit: 9).count == 1, "before its time, it is not repeated")
        self.world.now += 1
        #expect(try self.run(&maintenance, where: { _ in false }).isEmpty)
        #expect(self.world.bodies(self.bob, in: self.group).last == "{\"text\":\"s1\"}")
    }

    /// Only commands that failed are delayed: a success removes the record of earlier refusals.
    @Test func aSuccessEndsTheRecordOfRefusals() throws {
        for _ in 1...6 { try self.world.run(self.world.text(self.bob, self.group, "secret")) }
        try self.delete(self.bob)
        var maintenance = Maintenance(pageLimit: 2)
        for _ in 0..<8 {
            #expect(try self.run(&maintenance, where: { $0.name == "erase 2" }) == ["erase 2"])
            self.world.now += 60_000
        }
        var pages = 0
        let refused = try self.run(&maintenance) { command in
            pages += command.name == "erase 2" ? 1 : 0
            return pages == 2
        }
        #expect(refused == ["erase 2"])
        self.world.now += 1_000
        #expect(try self.run(&maintenance, where: { _ in false }).isEmpty)
        #expect(self.world.bodies(self.ann, in: self.group) == Array(repeating: "erased", count: 6))
    }

    @Test func aPollThatCannotBeClosedDelaysNoMessage() throws {
        let body = "{\"question\":\"When?\",\"options\":[\"Now\",\"Later\"]}"
        var content = MessageContent(kind: .poll, body: body, options: 2)
        content.closesAt = self.world.now + 1
        try self.world.run(
            self.world.command(self.ann, .send(SendCommand(conversation: self.group, content: .success(content)))))
        try self.schedule("s")
        var maintenance = Maintenance()
        #expect(try self.run(&maintenance, where: { $0.name.hasPrefix("close") }) == ["close 1"])
        #expect(self.world.bodies(self.bob, in: self.group).count == 2)
        #expect(self.world.storage.endedPolls(at: self.world.now, limit: 9).count == 1)
        self.world.now += 1_000
        #expect(try self.run(&maintenance, where: { _ in false }).isEmpty)
        #expect(self.world.storage.endedPolls(at: self.world.now, limit: 9).isEmpty)
    }

    // MARK: Expired messages

    /// A command removes a page of messages. If it cannot be written, the messages are removed one
    /// by one.
    @Test func aMessageThatCannotBeRemovedDelaysNoOther() throws {
        let addresses = try self.expireMessages(7)
        var maintenance = Maintenance(pageLimit: 4)
        let bad = addresses[2]
        func fails(_ command: Command) -> Bool {
            if case .blank(let targets, _) = command.action { targets.contains(bad) } else { false }
        }
        #expect(try self.run(&maintenance, where: fails) == ["expire 4"])
        #expect(self.world.storage.expired(at: self.world.now, limit: 9) == Array(addresses[0...3]), "the next page was not delayed")
        self.world.now += 1_000
        #expect(try self.run(&maintenance, where: fails) == ["expire 1"])
        #expect(self.world.storage.expired(at: self.world.now, limit: 9) == [bad])
        self.world.now += 2_000
        #expect(try self.run(&maintenance, where: { _ in false }).isEmpty)
        #expect(self.world.storage.expired(at: self.world.now, limit: 9).isEmpty)
        #expect(self.world.bodies(self.ann, in: self.group).allSatisfy { $0 == "expired" })
    }

    @Test func messagesThatExpireLaterAreOneCommandAgain() throws {
        _ = try self.expireMessages(3)
        var maintenance = Maintenance()
        #expect(try self.run(&maintenance, where: { _ in true }) == ["expire 3"])
        _ = try self.expireMessages(2)
        self.world.now += 1_000
        #expect(try self.next(&maintenance).map(\.name) == ["expire 2", "expire 1", "expire 1", "expire 1"])
    }

    // MARK: Erasures

    private func delete(_ user: UserKey) throws {
        var account = try #require(self.world.storage.accounts([user]).first)
        account.state = .deleted
        var changes = Changes()
        changes.accounts = [account]
        self.world.write(changes)
    }

    /// A member does not leave before its messages are erased, because after a restart the erasure
    /// examines memberships only.
    @Test func nothingFollowsAPageThatCouldNotBeWritten() throws {
        try self.world.run(self.world.text(self.bob, self.group, "secret"))
        try self.delete(self.bob)
        var maintenance = Maintenance()
        #expect(try self.run(&maintenance, where: { $0.name == "erase 1" }) == ["erase 1"])
        #expect(self.world.member(self.bob, in: self.group)?.state == .joined)
        maintenance = Maintenance()
        #expect(try self.run(&maintenance, where: { _ in false }).isEmpty)
        #expect(self.world.bodies(self.ann, in: self.group) == ["erased"])
    }

    /// The position within the account moves only past pages that were written.
    @Test(arguments: 0..<10) func aPageOfAnErasureThatCouldNotBeWrittenIsRepeated(failing: Int) throws {
        for number in 1...5 { try self.world.run(self.world.text(self.bob, self.group, "secret \(number)")) }
        try self.delete(self.bob)
        var maintenance = Maintenance(pageLimit: 2)
        var count = 0
        let refused = try self.run(&maintenance) { _ in
            defer { count += 1 }
            return count == failing
        }
        if !refused.isEmpty { #expect(self.world.storage.accounts([self.bob]).first?.isErased == false) }
        self.world.now += 1_000
        #expect(try self.run(&maintenance, where: { _ in false }).isEmpty)
        #expect(self.world.bodies(self.ann, in: self.group) == Array(repeating: "erased", count: 5))
        #expect(self.world.member(self.bob, in: self.group)?.state == .left)
        #expect(self.world.storage.accounts([self.bob]).first?.isErased == true)
    }

    @Test func anAccountThatCannotBeErasedDelaysNoOther() throws {
        let carol = self.world.user("carol")
        let other = self.world.conversation(owner: self.ann, members: [carol])
        try self.world.run(self.world.text(self.bob, self.group, "of bob"))
        try self.world.run(self.world.text(carol, other, "of carol"))
        try self.delete(self.bob)
        try self.delete(carol)
        var maintenance = Maintenance(pageLimit: 2)
        let (group, storage) = (self.group, self.world.storage)
        func fails(_ command: Command) -> Bool {
            if case .blank(let targets, _) = command.action { targets.contains { $0.conversation == group } } else { false }
        }
        #expect(try self.run(&maintenance, where: fails) == ["erase 1"])
        #expect(storage.deletedAccounts(limit: 9) == [self.bob])
        #expect(self.world.bodies(self.ann, in: other) == ["erased"] && self.world.bodies(self.ann, in: group) == ["{\"text\":\"of bob\"}"])
        self.world.now += 1_000
        #expect(try self.run(&maintenance, where: { _ in false }).isEmpty)
        #expect(storage.deletedAccounts(limit: 9).isEmpty && self.world.bodies(self.ann, in: group) == ["erased"])
    }

    @Test func aConversationThatCannotBeErasedDelaysNoOther() throws {
        let others = (0..<3).map { _ in self.world.conversation(owner: self.ann, members: [self.bob]) }
        for key in others + [self.group] {
            try self.world.run(self.world.text(self.bob, key, "secret"))
            try self.world.run(self.world.command(self.ann, .delete(key)))
        }
        var maintenance = Maintenance(pageLimit: 2)
        let group = self.group
        func fails(_ command: Command) -> Bool {
            if case .blank(let targets, _) = command.action { targets.contains { $0.conversation == group } } else { false }
        }
        #expect(try self.run(&maintenance, where: fails) == ["erase 1"])
        #expect(self.world.storage.deletedConversations(limit: 9) == [group])
        self.world.now += 1_000
        #expect(try self.run(&maintenance, where: { _ in false }).isEmpty)
        #expect(self.world.storage.deletedConversations(limit: 9).isEmpty)
    }

    // MARK: Bounds

    /// A command that was not submitted, because the storage failed before, is not postponed, and
    /// keeps the record of its refusals.
    @Test func aWithdrawnCommandIsDueAtOnce() throws {
        for id in ["s1", "s2"] { try self.schedule(id) }
        var maintenance = Maintenance()
        #expect(try self.next(&maintenance).map(\.name) == ["send s1", "send s2"])
        #expect(self.refuse(0, of: &maintenance))
        maintenance.withdrew(1)
        #expect(try self.next(&maintenance).map(\.name) == ["send s2"])
        #expect(self.refuse(0, of: &maintenance))
        self.world.now += 1_000
        #expect(try self.next(&maintenance).map(\.name) == ["send s1", "send s2"])
        maintenance.withdrew(0)
        #expect(self.refuse(1, of: &maintenance))
        #expect(try self.next(&maintenance).map(\.name) == ["send s1"])
        #expect(self.refuse(0, of: &maintenance))
        self.world.now += 1_999
        #expect(try self.next(&maintenance).isEmpty, "both were refused twice")
        self.world.now += 1
        #expect(try self.next(&maintenance).count == 2)
    }

    @Test func anErasureThatWasWithdrawnKeepsItsPosition() throws {
        for _ in 1...3 { try self.world.run(self.world.text(self.bob, self.group, "secret")) }
        try self.delete(self.bob)
        var maintenance = Maintenance(pageLimit: 2)
        for _ in 0..<20 {
            let commands = try self.next(&maintenance)
            for index in commands.indices { maintenance.withdrew(index) }
        }
        #expect(try self.run(&maintenance, where: { _ in false }).isEmpty)
        #expect(self.world.bodies(self.ann, in: self.group) == Array(repeating: "erased", count: 3))
    }

    @Test func theNumberOfPostponedCommandsIsBounded() throws {
        let count = Maintenance.maximumPostponed + 10
        let addresses = try self.expireMessages(count)
        var maintenance = Maintenance(pageLimit: 200)
        var pages = 0
        while true {
            let commands = try self.next(&maintenance)
            #expect(commands.map(\.name) == [pages < 5 ? "expire 200" : "expire 10"])
            pages += 1
            guard maintenance.refused(0, at: self.world.now) else { break }
            try #require(pages < 10)
        }
        #expect(pages == 6, "the page that is not recorded is not repeated immediately")
        self.world.now += 1_000
        #expect(try self.run(&maintenance, where: { _ in false }).isEmpty)
        #expect(addresses.count == count && self.world.storage.expired(at: self.world.now, limit: 9).isEmpty)
    }

    @Test func anIndexOfNoCommandIsIgnored() throws {
        var maintenance = Maintenance()
        #expect(try self.next(&maintenance).isEmpty)
        #expect(self.refuse(0, of: &maintenance))
        maintenance.withdrew(3)
        try self.schedule("s")
        #expect(try self.next(&maintenance).map(\.name) == ["send s"])
    }
}

extension Command {
    fileprivate var name: String {
        switch self.action {
        case .sendScheduled(let address, _): "send \(address.id.rawValue)"
        case .closePoll(let poll): "close \(poll.seq)"
        case .blank(let targets, let state): "\(state == .expired ? "expire" : "erase") \(targets.count)"
        case .leave: "leave"
        case .finishErasure: "finish"
        case .dismiss(_, let users): "dismiss \(users.count)"
        default: "other"
        }
    }
}
