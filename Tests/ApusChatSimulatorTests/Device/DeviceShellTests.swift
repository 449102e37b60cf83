import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatSimulator

/// The requests of a device, and their answers.
@Suite("Shell of a device")
struct DeviceShellTests {
    private let device = Device(
        index: 4, user: UserKey(2), name: UserName(prepared: "bob"), bug: nil, agenda: Agenda(), clock: SimulatedClock())
    private let room = ConversationID(number: 7)

    private func connection(_ key: Int64 = 1) -> Connection { Connection(key: SocketKey(key), device: 4, user: UserKey(2)) }

    /// Connects the device, and drops the requests with which a connection begins.
    private func connect(_ key: Int64 = 1) -> Connection {
        let connection = self.connection(key)
        self.device.connected(connection)
        connection.up.removeAll()
        return connection
    }

    private func command(_ id: ClientID, _ action: Command.Action) -> Command {
        Command(actor: UserKey(2), device: DeviceKey(4), request: RequestIdentity(id: id, hash: RequestHash(1, 0, 0, 0)), action: action)
    }

    private func change(_ text: String, isForward: Bool = false) throws -> Device.Change {
        let id = try #require(ClientID(text))
        let originals = isForward ? Originals(conversation: ConversationKey(7), seqs: [1]) : nil
        return Device.Change(id: id, command: self.command(id, .leave(ConversationKey(7), forgets: false)), originals: originals)
    }

    /// Returns the ids of the requested changes in transit, a forward with a `>`.
    private func changes(on connection: Connection) -> [String] {
        connection.up.compactMap { request in
            switch request {
            case .command(_, .change(let id)): id.rawValue
            case .forward(_, _, let id): ">" + id.rawValue
            default: nil
            }
        }
    }

    private func answer(_ seq: Int64) -> StoredAnswer { StoredAnswer(conversation: ConversationKey(7), seq: seq, n: seq, at: 1) }

    // MARK: Connections

    @Test func aConnectionBeginsWithHelloAndThenTheUnansweredChanges() throws {
        for (name, isForward) in [("a", false), ("b", true), ("c", false)] {
            self.device.request(try self.change(name, isForward: isForward))
        }
        let connection = self.connection()
        self.device.connected(connection)
        guard case .hello(nil, nil)? = connection.up.first else {
            Issue.record("\(connection.up)")
            return
        }
        #expect(self.changes(on: connection) == ["a", ">b", "c"] && connection.up.count == 4)
    }

    @Test func aChangeIsSentAtOnceAndRepeatedUntilItIsAnswered() throws {
        let first = self.connect()
        self.device.request(try self.change("a"))
        self.device.request(try self.change("b"))
        #expect(self.changes(on: first) == ["a", "b"])
        self.device.take(.answered(self.answer(3), .change(try #require(ClientID("a")))))
        self.device.disconnected()
        #expect(!first.isOpenAtDevice && self.device.connection == nil)
        let second = self.connection(2)
        self.device.connected(second)
        #expect(self.changes(on: second) == ["b"])
        // A late answer to a change that was answered before has no effect.
        self.device.take(.answered(self.answer(3), .change(try #require(ClientID("a")))))
        #expect(self.device.changes.map(\.id.rawValue) == ["b"])
    }

    @Test(
        arguments: [
            (.tooMany, 1_000, false, true), (.tooMany, 60_000, false, true), (.tooMany, 60_001, false, false), (.tooMany, nil, false, true),
            (.tooMany, 1_000, true, false), (.storage, nil, true, true), (.unavailable, nil, false, true), (.internal, nil, false, true),
            (.forbidden, nil, false, false), (.notFound, nil, true, false), (.conflict, nil, false, false), (.badRequest, 10, false, false),
            (.limit, nil, false, false), (.unsupported, nil, false, false),
        ] as [(ChatError.Code, Int64?, Bool, Bool)])
    func aRefusedChangeIsRepeatedIfThatCanSucceed(code: ChatError.Code, wait: Int64?, isForward: Bool, isKept: Bool) throws {
        let connection = self.connect()
        let change = try self.change("a", isForward: isForward)
        self.device.request(change)
        self.device.take(.refused(ChatError(code, message: "no", retryAfter: wait), .change(change.id)))
        #expect(self.device.changes.isEmpty == !isKept)
        // The repetition is sent with the next connection.
        #expect(connection.up.count == 1)
    }

    @Test func aRetiredDeviceHasNoConnection() {
        let connection = self.connect()
        connection.send(.marks(MarkPush(marks: [])))
        self.device.retire()
        #expect(self.device.isRetired && self.device.connection == nil && !connection.isOpenAtDevice && connection.down.isEmpty)
    }

    // MARK: Messages of the user

    private func message(_ text: String, _ number: Int) throws -> Device.Unsent {
        let id = try #require(ClientID(text))
        let send = SendCommand(conversation: ConversationKey(7), content: .success(MessageContent(kind: .text, body: Body.json(text))))
        return Device.Unsent(id: id, number: number, conversation: self.room, command: self.command(id, .send(send)))
    }

    @Test func messagesWaitInTheirOrderWithoutAConnection() throws {
        for (number, name) in ["a", "b", "c"].enumerated() { self.device.write(try self.message(name, number)) }
        #expect(self.device.outbox.map(\.id.rawValue) == ["a", "b", "c"] && self.device.acknowledged.isEmpty)
        self.device.restart()
        #expect(self.device.outbox.map(\.id.rawValue) == ["a", "b", "c"])
    }

    @Test func aRefusedMessageLeavesTheOutbox() throws {
        let message = try self.message("a", 1)
        self.device.write(message)
        self.device.store(.refused(message.id, ChatError(.forbidden, message: "no")))
        #expect(self.device.outbox.isEmpty && self.device.refused[message.id] == .forbidden)
    }

    // MARK: Older pages

    private func show(_ seqs: [Int64], minSeq: Int64 = 1, state: MemberState = .joined) {
        var head = ChatHead(conversation: self.room, kind: .group, state: state, seq: seqs.max() ?? 0, n: seqs.max() ?? 0, at: 1)
        head.minSeq = minSeq
        self.device.store(.head(head))
        for seq in seqs {
            let event = ChatEvent(
                conversation: self.room, seq: seq, n: seq, sender: UserName(prepared: "ann"), id: nil, at: 1, kind: .text, body: [:])
            self.device.store(.events([event], asOf: seq))
        }
    }

    @Test(
        arguments: [
            ([5, 6], 1, 5), ([3, 4, 8, 9], 1, 8), ([1, 2, 5], 1, 5), ([1, 2, 3], 1, nil), ([4, 5, 6], 4, nil), ([2, 6], 4, 6), ([], 1, nil),
        ] as [([Int64], Int64, Int64?)])
    func theNewestMissingPartIsRequested(seqs: [Int64], minSeq: Int64, before: Int64?) {
        let connection = self.connect()
        self.show(seqs, minSeq: minSeq)
        #expect(self.device.scroll(self.room) == (before != nil))
        let requests = connection.up.compactMap { request -> HistoryRequest? in
            if case .history(let history, isScroll: true) = request { history } else { nil }
        }
        #expect(requests.map(\.range) == (before.map { [.before($0)] } ?? []) && requests.allSatisfy { $0.conversation == self.room })
    }

    @Test(
        arguments: [
            (.joined, true), (.left, true), (.removed, true), (.invited, false), (.requested, false), (.banned, false), (.unknown, false),
        ] as [(MemberState, Bool)])
    func onlyMembersAndFormerMembersRequestAPage(state: MemberState, isRequested: Bool) {
        let connection = self.connect()
        self.show([5, 6], state: state)
        #expect(self.device.scroll(self.room) == isRequested && connection.up.isEmpty == !isRequested)
    }

    @Test func aConversationThatIsNotListedIsNotScrolled() {
        let connection = self.connect()
        #expect(!self.device.scroll(ConversationID(number: 99)) && connection.up.isEmpty)
    }

    /// The refusal of a page that the shell requested is not given to the core.
    @Test func aRefusedPageOfTheShellHasNoEffect() {
        let connection = self.connect()
        self.show([5, 6])
        let request = HistoryRequest(conversation: self.room, range: .before(5))
        let heads = self.device.heads
        self.device.take(.historyRefused(ChatError(.notFound, message: "gone"), request, isScroll: true))
        #expect(self.device.heads == heads && connection.up.isEmpty && self.device.connection === connection)
    }
}
