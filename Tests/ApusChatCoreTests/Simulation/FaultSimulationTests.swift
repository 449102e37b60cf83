import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Foundation
import Testing

@testable import ApusChatCore

/// Random sends, reads, edits, recalls and reactions on a network with faults. The stores of the
/// devices are compared with the log of the server and with its answers.
@Suite("Faults")
struct FaultSimulationTests {
    /// The number of runs: the environment variable `APUS_FAULT_SEEDS`, or 60.
    private static let seeds = Int(ProcessInfo.processInfo.environment["APUS_FAULT_SEEDS"] ?? "") ?? 60

    @Test(arguments: 0..<Self.seeds) func nothingIsLostRepeatedOrReordered(seed: Int) throws {
        let network = FaultyNetwork(seed: UInt64(seed))
        let alice = network.user("alice", devices: 2)
        let bob = network.user("bob", devices: 2)
        let carol = network.user("carol", devices: 1)
        let pair = network.setUp { $0.pair(alice, bob) }
        let group = network.setUp { $0.conversation(owner: alice, members: [bob, carol]) }
        if seed % 2 == 0 { network.shown = [pair, group].map { ConversationID(number: $0.rawValue) } }
        for step in 0..<250 {
            guard let device = network.pick(network.devices) else { return }
            let key = network.chance(50) && device.user != carol ? pair : group
            let conversation = ConversationID(number: key.rawValue)
            switch network.number(0...99) {
            case 0..<22:
                network.write("text \(step)", in: conversation, on: device)
            case 22..<30: network.read(network.number(1...40), in: conversation, on: device)
            case 30..<36: network.disconnect(device)
            case 36..<46: network.connect(device)
            case 46..<48: network.restart(device)
            case 48..<62: try network.decide(stops: network.chance(8))
            case 62..<66: try self.change(device.user, key, network)
            case 66..<72: network.fireTimers(of: device)
            default: for _ in 0..<3 { network.arrive(at: device) }
            }
        }
        try network.settle()
        for key in [pair, group] { self.check(key, network, isWhole: !network.shown.isEmpty) }
    }

    /// After the restore of an earlier state, each device sends the messages again that the server
    /// had acknowledged and that the device had not received in the log.
    @Test(arguments: 0..<Self.seeds) func anEarlierStateOfTheServerLosesNoMessageOfTheOutbox(seed: Int) throws {
        let network = FaultyNetwork(seed: UInt64(seed))
        let alice = network.user("alice", devices: 2)
        let bob = network.user("bob", devices: 1)
        let pair = network.setUp { $0.pair(alice, bob) }
        let conversation = ConversationID(number: pair.rawValue)
        network.shown = [conversation]
        var written: [(device: FaultyNetwork.Device, id: ClientID)] = []
        for step in 0..<250 {
            guard let device = network.pick(network.devices) else { return }
            switch network.number(0...99) {
            case 0..<25:
                network.write("text \(step)", in: conversation, on: device)
                if let last = device.outbox.last { written.append((device, last.id)) }
            case 25..<31: network.disconnect(device)
            case 31..<41: network.connect(device)
            case 41..<44: network.restart(device)
            case 44..<60: try network.decide(stops: network.chance(8))
            case 60..<64: network.fireTimers(of: device)
            case 64 where network.batches > 0:
                try network.restore(without: Int(network.number(1...min(4, Int64(network.batches)))))
            default: network.arrive(at: device)
            }
        }
        try network.restore(without: min(2, network.batches))
        try network.settle()
        self.check(pair, network, isWhole: false)
        let messages = network.world.storage.events(in: pair, .from(1), as: alice, limit: 10_000).compactMap(\.row?.clientID)
        for (device, id) in written where !device.exposed.contains(id) {
            #expect(messages.filter { $0 == id }.count == 1, "\(id)")
        }
    }

    /// Performs a random edit, recall or reaction of a user, which no device sent.
    private func change(_ user: UserKey, _ key: ConversationKey, _ network: FaultyNetwork) throws {
        let messages = network.world.storage.events(in: key, .from(1), as: user, limit: 1_000).compactMap(\.row).filter(\.isMessage)
        guard let target = network.pick(messages) else { return }
        let address = EventAddress(key, target.seq)
        let action: Command.Action =
            switch network.number(0...2) {
            case 0: .edit(address, .success(MessageContent(kind: .text, body: "{\"text\":\"edited\"}")))
            case 1: .recall(address)
            default: .react(address, key: "👍", isOn: network.chance(60))
            }
        try network.run(network.world.command(user, action))
    }

    /// - Parameter isWhole: Whether each device has the log from its beginning. If not, it has the
    ///   end of the log.
    private func check(_ key: ConversationKey, _ network: FaultyNetwork, isWhole: Bool) {
        let conversation = ConversationID(number: key.rawValue)
        for device in network.devices where network.world.member(device.user, in: key) != nil {
            let views = network.world.storage.events(in: key, .from(1), as: device.user, limit: 10_000)
            let served = views.map { network.event($0, in: key) }
            #expect(served.map(\.seq) == served.indices.map { Int64($0) + 1 })
            // Each device has each event once, with its newest content.
            let stored = (device.log[conversation] ?? [:]).values.sorted { $0.seq < $1.seq }
            let expected = isWhole ? served[...] : served.suffix(stored.count)
            #expect(stored.map(\.seq) == expected.map(\.seq))
            for (stored, served) in zip(stored, expected) { #expect(Content(stored) == Content(served)) }
            // Each acknowledged message is in the log once, with the acknowledged seq.
            for (id, answer) in device.acknowledged where answer.conversation == conversation {
                #expect(served.filter { $0.id == id && $0.sender == device.name }.map(\.seq) == [answer.seq])
            }
            // An acknowledged message can be in an older part of the log, which the device lacks.
            #expect(device.outbox.allSatisfy { device.sent.contains($0.id) && !isWhole })
            #expect(device.core.heads[conversation]?.unread == network.world.unread(device.user, in: key))
            // The messages of a device are in the order in which they were written.
            let own = served.filter { $0.sender == device.name && $0.isMessage && device.acknowledged[$0.id ?? Client.id("none")] != nil }
            let numbers = own.compactMap { $0.id?.rawValue.dropFirst() }.compactMap { Int($0) }
            #expect(numbers == numbers.sorted())
        }
    }
}

/// The part of an event that is equal on all devices.
private struct Content: Equatable {
    let seq: Int64
    let n: Int64?
    let sender: UserName?
    let id: ClientID?
    let kind: EventKind
    let ref: Int64?
    let state: EventState
    let body: JSONObject
    let reactions: [ReactionCount]

    init(_ event: ChatEvent) {
        (self.seq, self.n, self.sender, self.id) = (event.seq, event.n, event.sender, event.id)
        (self.kind, self.ref, self.state, self.body) = (event.kind, event.ref, event.state, event.body)
        self.reactions = event.reactions
    }
}

extension ChatEvent {
    fileprivate var isMessage: Bool { self.n != nil }
}
