import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSimulator

/// The actions of the users of a run: what they request from what their devices show.
@Suite("Actions of the users", .timeLimit(.minutes(5)))
struct ActionTests {
    /// A run that stopped, with the requests that its users then make. No request is delivered, so
    /// that each is decided by the same state.
    private struct Acted {
        let simulation: Simulation
        /// The requests of each device, in the order of the devices.
        let commands: [(device: Device, command: Command, originals: Originals?)]

        init(seed: UInt64, count: Int = 1_500) {
            let simulation = Simulation(seed: seed)
            simulation.begin()
            for step in 0..<600 { simulation.step(step) }
            for device in simulation.devices {
                device.changes = []
                device.outbox = []
            }
            for _ in 0..<count {
                if let device = simulation.generator.pick(simulation.devices) { simulation.act(device) }
            }
            self.simulation = simulation
            self.commands = simulation.devices.flatMap { device in
                device.outbox.map { (device, $0.command, nil) } + device.changes.map { (device, $0.command, $0.originals) }
            }
        }
    }

    private static let seeds = 1...4 as ClosedRange<UInt64>

    /// The verbs that only the server uses, and those of which the device keeps no request.
    private static let others: Set<Verb> = [.sendScheduled, .setPreview, .blank, .finishErasure, .mark, .other]

    @Test func togetherTheyUseEveryVerb() {
        var found: Set<Verb> = []
        for seed in Self.seeds { found.formUnion(Acted(seed: seed, count: 10_000).commands.map { Verb($0.command) }) }
        #expect(found.isSuperset(of: Set(Verb.allCases).subtracting(Self.others)), "\(Set(Verb.allCases).subtracting(found))")
        #expect(found.isDisjoint(with: Self.others), "\(found.intersection(Self.others))")
    }

    @Test(arguments: seeds) func aRequestIsOfTheUserOfItsDevice(seed: UInt64) {
        let acted = Acted(seed: seed)
        #expect(acted.commands.count > 300)
        for (device, command, _) in acted.commands {
            #expect(command.actor == device.user && command.device == DeviceKey(Int64(device.index)) && command.request != nil)
            #expect(!device.isRetired)
        }
    }

    /// Each request has an id of its own, except the repetition of an acknowledged message.
    @Test(arguments: seeds) func anIDIsRepeatedForAnAcknowledgedMessageOnly(seed: UInt64) {
        let acted = Acted(seed: seed)
        var seen: [ClientID: Int] = [:]
        for (_, command, _) in acted.commands { if let id = command.request?.id { seen[id, default: 0] += 1 } }
        let acknowledged = Set(acted.simulation.devices.flatMap { $0.acknowledged.map(\.id) })
        for (id, count) in seen where count > 1 { #expect(acknowledged.contains(id), "\(id)") }
        #expect(seen.keys.contains { acknowledged.contains($0) }, "some messages are repeated")
    }

    @Test(arguments: seeds) func aMessageIsWrittenInAConversationThatTheDeviceShows(seed: UInt64) {
        for device in Acted(seed: seed).simulation.devices {
            for message in device.outbox {
                #expect(device.heads[message.conversation] != nil)
                guard case .send(let send) = message.command.action else {
                    Issue.record("\(message.command.action)")
                    continue
                }
                #expect(send.conversation.rawValue == message.conversation.number)
                // A reply and a thread refer to messages that the device shows.
                for seq in [send.ref, send.thread] where seq != 0 {
                    let event = device.logs[message.conversation]?[seq]
                    #expect(event == nil || event?.n != nil)
                }
            }
            #expect(device.outbox.map(\.number) == device.outbox.map(\.number).sorted(), "messages are in the order of their numbers")
        }
    }

    @Test(arguments: seeds) func aChangeRefersToAMessageThatTheDeviceShows(seed: UInt64) {
        for (device, command, _) in Acted(seed: seed).commands {
            let target: EventAddress
            switch command.action {
            case .edit(let address, _), .react(let address, _, _), .pin(let address, _), .vote(let address, _), .closePoll(let address):
                target = address
            default: continue
            }
            let event = device.logs[ConversationID(number: target.conversation.rawValue)]?[target.seq]
            #expect(event?.n != nil, "\(command.action)")
            if case .closePoll = command.action { #expect(event?.sender == device.name && event?.kind == .poll) }
            if case .vote(_, let options) = command.action {
                #expect(
                    event?.kind == .poll && options == options.sorted() && options.allSatisfy { event?.votes.indices.contains($0) ?? false }
                )
            }
        }
    }

    @Test(arguments: seeds) func aForwardHasOneToFiveMessages(seed: UInt64) {
        var count = 0
        for entry in Acted(seed: seed).commands {
            guard case .forward(let target, _, _) = entry.command.action, let originals = entry.originals else {
                #expect(Verb(entry.command) != .forward)
                continue
            }
            count += 1
            let heads = entry.device.heads
            #expect(heads[ConversationID(number: target.rawValue)] != nil)
            #expect(heads[ConversationID(number: originals.conversation.rawValue)] != nil)
            #expect((1...5).contains(originals.seqs.count))
        }
        #expect(count > 5)
    }

    /// A user joins by a link that the server has answered, and cancels a message that was
    /// scheduled on the device.
    @Test(arguments: seeds) func codesAndScheduledMessagesAreKnown(seed: UInt64) {
        let acted = Acted(seed: seed)
        for (device, command, _) in acted.commands {
            switch command.action {
            case .joinByLink(let code): #expect(acted.simulation.oracle.links[code] != nil)
            case .revokeLink(let code): #expect(acted.simulation.server.codes.contains { $0.code == code })
            case .unschedule(let id): #expect(device.scheduled.contains(id))
            case .schedule(let schedule): #expect(schedule.sendAt > acted.simulation.clock.wall && schedule.kind == .text)
            default: break
            }
        }
    }

    @Test func aRetiredDeviceAndADeviceWithoutConversationsDoNothing() throws {
        let simulation = Simulation(seed: 5)
        simulation.begin()
        for step in 0..<300 { simulation.step(step) }
        let device = try #require(simulation.devices.first { !$0.isRetired && !$0.conversations.isEmpty })
        let empty = Device(
            index: 900, user: device.user, name: device.name, bug: nil, agenda: simulation.agenda, clock: simulation.clock)
        device.retire()
        let before = simulation.devices.map { ($0.changes.count, $0.outbox.count) }
        let lastID = simulation.lastID
        for _ in 0..<500 {
            simulation.act(device)
            simulation.act(empty)
        }
        #expect(
            simulation.lastID == lastID
                && zip(before, simulation.devices).allSatisfy { $0.0 == $1.changes.count && $0.1 == $1.outbox.count })
        #expect(empty.changes.isEmpty && empty.outbox.isEmpty)
    }

    /// Actions of owners and admins come from devices of such members.
    @Test(arguments: seeds) func theStaffManagesItsConversations(seed: UInt64) {
        let simulation = Acted(seed: seed, count: 0).simulation
        var found = 0
        for _ in 0..<200 {
            guard let (device, head) = simulation.staff() else { continue }
            found += 1
            #expect(device.heads[head.conversation] == head && head.state == .joined)
            #expect((head.kind == .group || head.kind == .channel) && (head.role == .owner || head.role == .admin))
        }
        #expect(found > 100)
    }
}
