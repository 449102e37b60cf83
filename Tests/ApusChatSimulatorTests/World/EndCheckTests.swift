import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Testing

@testable import ApusChatSimulator

/// The checks at the end of a run. A run that ended without a fault is changed in one place, and
/// the check reports it.
@Suite("Checks at the end of a run", .timeLimit(.minutes(5)))
struct EndCheckTests {
    /// A run that ended, with a device that stores a conversation of at least six events, and a
    /// normal text among them.
    private struct Ended {
        let simulation: Simulation
        let device: Device
        let conversation: ConversationID
        let text: ChatEvent
    }

    private static func ended() throws -> Ended {
        let simulation = Simulation(seed: 3)
        let outcome = simulation.run(steps: 500)
        try #require(outcome.faults == [])
        for device in simulation.devices where !device.isRetired {
            for conversation in device.conversations {
                guard let log = device.logs[conversation], let head = device.heads[conversation], head.state == .joined, log.count >= 6,
                    log.missing.isEmpty, let book = simulation.oracle.books[ConversationKey(conversation.number)], !book.isPlain
                else { continue }
                for seq in log.last - Int64(log.count) + 2..<log.last {
                    guard let event = log[seq], event.kind == .text, event.state == .normal, event.expiresAt == nil,
                        event.body["text"]?.stringValue != nil, event.n != nil, let index = book.index(of: seq),
                        book.entries[index].changedUnseenBy.isEmpty, book.entries[index].deletedBy.isEmpty
                    else { continue }
                    return Ended(simulation: simulation, device: device, conversation: conversation, text: event)
                }
            }
        }
        throw NoExample()
    }

    private struct NoExample: Error {}

    /// Changes the run, checks it, and returns the faults.
    private func faults(_ change: (Ended) throws -> Void) throws -> [String] {
        let ended = try Self.ended()
        ended.simulation.check()
        #expect(ended.simulation.server.faults == [], "the run itself has no fault")
        try change(ended)
        ended.simulation.check()
        return ended.simulation.server.faults
    }

    /// Replaces the log of the device by one without some events, or with other ones.
    private static func rebuild(_ ended: Ended, _ change: (ChatEvent) -> ChatEvent?) {
        guard let log = ended.device.logs[ended.conversation], let lowest = log.lowest else { return }
        var new = DeviceLog()
        for seq in lowest...log.last {
            if let event = log[seq].flatMap(change) { new.put(event, asOf: log.last) }
        }
        ended.device.logs[ended.conversation] = new
    }

    // MARK: The store of a device

    private static let heads: [(fault: String, change: @Sendable (inout ChatHead) -> Void)] = [
        ("unread instead of", { $0.unread += 1 }), ("mentions instead of", { $0.mentions += 1 }), ("instead of", { $0.seq -= 1 }),
        ("instead of", { $0.minSeq += 1 }), ("is read up to", { $0.n += 1 }), ("is read up to", { $0.read += 1 }),
        ("says left", { $0.state = .left }), ("says joined guest", { $0.role = .guest }),
        ("the settings of", { $0.own.isArchived.toggle() }),
    ]

    @Test(arguments: Self.heads.indices) func aWrongHeadOfADeviceIsFound(index: Int) throws {
        let faults = try self.faults { ended in
            guard var head = ended.device.heads[ended.conversation] else { return }
            Self.heads[index].change(&head)
            ended.device.heads[ended.conversation] = head
        }
        #expect(faults.count == 1 && faults[0].contains(Self.heads[index].fault), "\(faults)")
    }

    @Test func aConversationThatIsMissingIsFound() throws {
        let listed = try self.faults { ended in ended.device.conversations.removeAll { $0 == ended.conversation } }
        #expect(listed.count == 1 && listed[0].contains("it lists"), "\(listed)")
        let head = try self.faults { ended in ended.device.heads[ended.conversation] = nil }
        #expect(head.count == 1 && head[0].hasSuffix("there is no head"), "\(head)")
        let log = try self.faults { ended in ended.device.logs[ended.conversation] = nil }
        #expect(log.count == 1 && log[0].hasSuffix("there is no log"), "\(log)")
        let more = try self.faults { ended in ended.device.conversations.append(ConversationID(number: 9_999)) }
        #expect(more.count == 1 && more[0].contains("it lists"), "\(more)")
    }

    private static let events: [(fault: String, change: @Sendable (inout ChatEvent) -> Void)] = [
        ("has the text", { $0.body["text"] = "a lie" }),
        ("has the text", { $0.body["preview"] = ["url": "https://apus.test", "title": "a lie"] }),
        ("has another place", { $0.n = ($0.n ?? 0) + 1 }), ("has another place", { $0.n = nil }),
        ("has the wrong sender", { $0.sender = nil }),
        ("is text edited instead of", { $0.state = .edited }), ("is text recalled instead of", { $0.state = .recalled }),
        ("instead of", { $0.id = ClientID("other") }), ("has the reactions", { $0.reactions.append(ReactionCount(key: "🦆", count: 1)) }),
        ("is forwarded from", { $0.body["forwarded"] = ["sender": "user1", "at": 0] }), ("is in the thread", { $0.thread = 1_000 }),
    ]

    @Test(arguments: Self.events.indices) func aWrongEventOfADeviceIsFound(index: Int) throws {
        let faults = try self.faults { ended in
            Self.rebuild(ended) { event in
                guard event.seq == ended.text.seq else { return event }
                var wrong = event
                Self.events[index].change(&wrong)
                return wrong
            }
        }
        #expect(faults.count == 1 && faults[0].contains(Self.events[index].fault), "\(faults)")
    }

    @Test func aMissingEventIsFound() throws {
        var seq: Int64 = 0
        let inside = try self.faults { ended in
            seq = ended.text.seq
            Self.rebuild(ended) { $0.seq == ended.text.seq ? nil : $0 }
        }
        #expect(inside.count == 1 && inside[0].hasSuffix("event \(seq) is missing"), "\(inside)")
        let last = try self.faults { ended in
            let end = ended.device.logs[ended.conversation]?.last
            Self.rebuild(ended) { $0.seq == end ? nil : $0 }
        }
        #expect(last.count == 1 && last[0].contains("the log ends with"), "\(last)")
    }

    @Test func eventsThatAreExchangedAreFound() throws {
        let faults = try self.faults { ended in
            guard let next = ended.device.logs[ended.conversation]?[ended.text.seq + 1] else { return }
            Self.rebuild(ended) { event in
                var event = event
                if event.seq == ended.text.seq { (event.body, event.id, event.sender) = (next.body, next.id, next.sender) }
                return event
            }
        }
        #expect(faults.count == 1, "\(faults)")
    }

    /// The devices of a deleted account receive nothing, and are not compared.
    @Test func aRetiredDeviceIsNotCompared() throws {
        var name = ""
        let faults = try self.faults { ended in
            name = "device \(ended.device.index) "
            ended.device.retire()
            ended.device.logs = [:]
            ended.device.heads = [:]
        }
        #expect(!name.isEmpty && faults.allSatisfy { !$0.hasPrefix(name) }, "\(faults)")
    }

    // MARK: Sent messages

    @Test func anAcknowledgementOfAnotherPlaceIsFound() throws {
        for change in [0, 1, 2] {
            let faults = try self.faults { ended in
                guard let device = ended.simulation.devices.first(where: { !$0.isRetired && !$0.acknowledged.isEmpty }) else { return }
                let sent = device.acknowledged[0]
                var answer = sent.answer
                switch change {
                case 0: answer.seq += 1
                case 1: answer.n += 1
                default: answer.conversation = ConversationID(number: 9_999)
                }
                device.acknowledged[0] = Device.Acknowledged(id: sent.id, number: sent.number, command: sent.command, answer: answer)
            }
            #expect(faults.count == 1 && faults[0].contains("is acknowledged as"), "\(change): \(faults)")
        }
    }

    @Test func aMessageThatIsNotInTheLogIsFound() throws {
        let faults = try self.faults { ended in
            guard let device = ended.simulation.devices.first(where: { !$0.isRetired && !$0.acknowledged.isEmpty }) else { return }
            let sent = device.acknowledged[0]
            guard let book = ended.simulation.oracle.books[ConversationKey(sent.answer.conversation.number)],
                let index = book.index(of: sent.answer.seq)
            else { return }
            book.entries[index].id = ClientID("lost")
        }
        #expect(!faults.isEmpty, "\(faults)")
    }

    @Test func messagesInAnotherOrderAreFound() throws {
        let faults = try self.faults { ended in
            for device in ended.simulation.devices where !device.isRetired {
                let conversations = Dictionary(grouping: device.acknowledged) { $0.answer.conversation }
                guard let sent = conversations.values.first(where: { $0.count > 1 })?.sorted(by: { $0.number < $1.number }) else {
                    continue
                }
                // The numbers are those of the order in which the user wrote the messages.
                device.acknowledged = zip(sent, sent.reversed()).map { message, other in
                    Device.Acknowledged(id: message.id, number: other.number, command: message.command, answer: message.answer)
                }
                return
            }
            throw NoExample()
        }
        #expect(faults.count == 1 && faults[0].contains("overtook an earlier one"), "\(faults)")
    }

    @Test func aDeviceThatStillWaitsIsFound() throws {
        let unsent = try self.faults { ended in
            let command = ended.simulation.command(
                ended.device.user, try #require(ClientID("x")), .recall(EventAddress(ConversationKey(1), 1)))
            ended.device.outbox = [
                Device.Unsent(id: try #require(ClientID("x")), number: 1, conversation: ended.conversation, command: command)
            ]
        }
        #expect(unsent.count == 1 && unsent[0].hasSuffix("it waits for answers"), "\(unsent)")
        let change = try self.faults { ended in
            let command = ended.simulation.command(
                ended.device.user, try #require(ClientID("x")), .recall(EventAddress(ConversationKey(1), 1)))
            ended.device.changes = [Device.Change(id: try #require(ClientID("x")), command: command)]
        }
        #expect(change.count == 1 && change[0].hasSuffix("it waits for answers"), "\(change)")
    }

    // MARK: The server

    @Test func aMessageThatIsMissingInTheScheduleIsFound() throws {
        let address = ScheduledAddress(UserKey(1), try #require(ClientID("never")))
        let faults = try self.faults { ended in
            ended.simulation.oracle.plans[address] = Plan(
                conversation: ConversationKey(1), text: "x", hash: RequestHash(1, 2, 3, 4), sendAt: 5)
        }
        #expect(faults.count == 1 && faults[0].contains("messages are scheduled instead of"), "\(faults)")
    }

    @Test func aMessageThatShouldNotBeScheduledIsFound() throws {
        let faults = try self.faults { ended in
            var changes = Changes()
            let address = ScheduledAddress(UserKey(1), try #require(ClientID("extra")))
            changes.scheduled = [
                ScheduledRow(
                    address: address, conversation: ConversationKey(1_001), kind: .text, body: Body.json("x"), sendAt: 5,
                    hash: RequestHash(1, 2, 3, 4))
            ]
            _ = try ended.simulation.server.storage.begin(Needs())
            _ = try ended.simulation.server.storage.commit(changes)
        }
        #expect(
            faults.contains { $0.contains("is in the schedule instead of nil") } && faults.contains { $0.contains("scheduled instead of") })
    }

    @Test(arguments: [true, false]) func aWrongContactIsFound(blocks: Bool) throws {
        let faults = try self.faults { ended in
            var tie = Tie()
            (tie.relation, tie.isBlocked) = (blocks ? .none : .friend, blocks)
            // No user is a contact of itself.
            ended.simulation.oracle.ties[ContactAddress(owner: UserKey(1), peer: UserKey(1))] = tie
        }
        #expect(faults.count == 1 && faults[0].hasPrefix("the contact"), "\(faults)")
    }

    /// Calls of the oracle that the server does not know.
    @Test(arguments: [(1, CallState.ringing), (1, .accepted), (2, .accepted), (1, .ended), (1, .missed)])
    func aWrongCallIsFound(count: Int, state: CallState) throws {
        let faults = try self.faults { ended in
            // In a conversation that no device compares: its only member has a deleted account.
            let book = Book(key: ConversationKey(77_777), kind: .group, settings: ConversationSettings())
            for seq in 1...Int64(count) {
                let entry = Entry(seq: seq, n: seq, sender: UserKey(1), kind: .call, ref: 0, text: "", at: 1)
                entry.call = Call(state: state)
                book.entries.append(entry)
            }
            ended.simulation.oracle.books[book.key] = book
        }
        let isRunning = state == .ringing || state == .accepted
        #expect(faults.contains { $0.contains("calls run in 77777") } == (count > 1))
        #expect(faults.contains { $0.contains("in 77777 rings forever") } == (state == .ringing))
        #expect(faults.contains { $0.contains("in 77777 runs without a device") } == isRunning)
        #expect(faults.contains { $0.hasPrefix("the calls ") } == isRunning, "\(faults)")
        if !isRunning { #expect(faults == []) }
    }
}
