import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import ApusSeededRandom
import Testing

@testable import ApusChatClient

/// After random sends, edits, recalls, lost connections and restarts, every device has the log of
/// the server.
@Suite("Faults of the network")
struct FaultTests {
    @Test(arguments: 0..<6) func allDevicesConverge(seed: UInt64) async throws {
        var generator = SplitMix64(state: seed)
        let server = FakeServer()
        server.user(Value.alice)
        server.user(Value.bob)
        let pair = server.conversation(.pair, [Value.alice, Value.bob])
        let devices = try [TestDevice(server), TestDevice(server), TestDevice(server)]
        let users = [Value.alice, Value.alice, Value.bob]
        var clients: [ChatClient] = []
        for (device, user) in zip(devices, users) { clients.append(try await device.signIn(user)) }
        for client in clients { try await client.isOnline() }
        var written: [Int: [String]] = [:]
        for step in 0..<80 {
            let index = Int.random(in: 0..<3, using: &generator)
            let chat = clients[index].conversation(pair)
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<40:
                try await chat.send("\(index)-\(step)")
                written[index, default: []].append("\(index)-\(step)")
            case 40..<55: server.loseAnswers(1)
            case 55..<65: server.losePushes(2)
            case 65..<72: server.disconnectAll()
            case 72..<78:
                await clients[index].close()
                clients[index] = try await devices[index].accounts.open(try #require(devices[index].accounts.all.first))
            case 78..<88:
                let rows = try await chat.storedMessages().messages
                if let own = rows.last(where: { $0.isOwn && $0.event.state == .normal })?.seq {
                    let address = EventAddress(ConversationKey(pair.number), own)
                    server.change(.recall(address), by: users[index])
                }
            default: for _ in 0..<50 { await Task.yield() }
            }
        }
        server.losePushes(0)
        server.loseAnswers(0)
        server.disconnectAll()
        for client in clients {
            try await eventually { try await client.conversation(pair).unsent.isEmpty }
        }
        let expected = server.events(in: pair, as: Value.bob)
        // The log contains as many messages as were written: none is lost or repeated.
        #expect(expected.filter { $0.n != nil }.count == written.values.map(\.count).reduce(0, +))
        for client in clients {
            try await eventually {
                let rows = try await client.conversation(pair).messages(limit: 1_000).messages
                return rows.map(Content.init) == expected.filter(\.isShown).map(Content.init)
            }
        }
        for (client, device) in zip(clients, devices) {
            await client.close()
            device.remove()
        }
    }

    /// The part of a message that is equal on all devices.
    private struct Content: Equatable {
        let seq: Int64
        let n: Int64?
        let id: ClientID?
        let state: EventState
        let text: String?

        init(_ message: ChatMessage) { self.init(message.event) }

        init(_ event: ChatEvent) {
            (self.seq, self.n, self.id, self.state) = (event.seq, event.n, event.id, event.state)
            self.text = event.body["text"]?.stringValue
        }
    }
}
