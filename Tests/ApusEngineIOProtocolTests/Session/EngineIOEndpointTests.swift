import ApusEngineIOProtocol
import NIOCore
import Testing

@Suite struct EngineIOEndpointTests {
    private static let handshake = EngineIOHandshake(
        sid: "a1", upgrades: [], pingInterval: .seconds(25), pingTimeout: .seconds(20), maxPayload: 1_000_000)

    private static func text(_ text: String) -> EngineIOMessage { .text(ByteBuffer(string: text)) }

    private static func code(_ event: EngineIOEndpoint.Event?) -> EngineIOError.Code? {
        if case .ended(let error) = event { error.code } else { nil }
    }

    /// Both endpoints, after the open packet has been delivered.
    private struct Pair {
        var client: EngineIOEndpoint
        var server: EngineIOEndpoint

        init(version: EngineIOVersion = .v4) throws {
            self.client = .client(version: version, at: .zero)
            self.server = .server(EngineIOEndpointTests.handshake, version: version, at: .zero)
            let events = self.deliver(at: .zero)
            try #require(events == [.opened(EngineIOEndpointTests.handshake)])
        }

        /// Passes the output of each endpoint to the other until neither has any.
        mutating func deliver(at now: Duration) -> [EngineIOEndpoint.Event] {
            var events: [EngineIOEndpoint.Event] = []
            while true {
                let toClient = self.server.takeOutput()
                let toServer = self.client.takeOutput()
                if toClient.isEmpty, toServer.isEmpty { return events }
                events += toClient.compactMap { self.client.receive($0, at: now) }
                events += toServer.compactMap { self.server.receive($0, at: now) }
            }
        }
    }

    @Test(arguments: [EngineIOVersion.v4, .v3]) func messagesPassInBothDirections(version: EngineIOVersion) throws {
        var pair = try Pair(version: version)
        #expect(pair.client.isOpen && pair.server.isOpen)
        pair.client.send(Self.text("hello"))
        pair.server.send(.binary(ByteBuffer(bytes: [1, 2, 3])))
        let events = pair.deliver(at: .seconds(1))
        #expect(events == [.message(.binary(ByteBuffer(bytes: [1, 2, 3]))), .message(Self.text("hello"))])
    }

    @Test(arguments: [EngineIOVersion.v4, .v3]) func theHeartbeatKeepsTheSessionOpen(version: EngineIOVersion) throws {
        var pair = try Pair(version: version)
        for round in 1...10 {
            let now = Duration.seconds(25 * round)
            #expect(pair.client.timerFired(at: now) == nil)
            #expect(pair.server.timerFired(at: now) == nil)
            #expect(pair.deliver(at: now).isEmpty)
        }
        #expect(pair.client.isOpen && pair.server.isOpen)
    }

    @Test func aSilentPeerIsDetectedByBothEnds() throws {
        var pair = try Pair()
        #expect(pair.server.deadline == .seconds(25))
        #expect(pair.server.timerFired(at: .seconds(24)) == nil)
        #expect(pair.server.takeOutput().isEmpty)
        #expect(pair.server.timerFired(at: .seconds(25)) == nil)
        #expect(pair.server.takeOutput() == [Self.text("2")])
        #expect(Self.code(pair.server.timerFired(at: .seconds(45))) == .heartbeatTimeout)
        #expect(pair.client.deadline == .seconds(45))
        #expect(Self.code(pair.client.timerFired(at: .seconds(45))) == .heartbeatTimeout)
        #expect(pair.client.isFinished && pair.client.deadline == nil)
    }

    @Test func aCloseEndsBothSides() throws {
        var pair = try Pair()
        pair.client.close()
        #expect(pair.deliver(at: .seconds(1)).map(Self.code) == [.closed])
        pair.server.send(Self.text("late"))
        #expect(pair.server.takeOutput().isEmpty)
        #expect(pair.server.transportEnded() == nil)
        #expect(pair.client.isFinished && pair.server.isFinished)
    }

    @Test func theOpenPacketIsFirstAndInTime() {
        var early = EngineIOEndpoint.client(at: .zero)
        #expect(Self.code(early.receive(Self.text("4hello"), at: .zero)) == .malformedPacket)
        var late = EngineIOEndpoint.client(at: .zero, timeout: .seconds(5))
        late.send(Self.text("too early"))
        #expect(late.takeOutput().isEmpty)
        #expect(Self.code(late.timerFired(at: .seconds(5))) == .timeout)
    }

    @Test(arguments: ["", "9", "0{", "2", "5"]) func aServerEndsASessionWithAnInvalidPacket(packet: String) {
        var server = EngineIOEndpoint.server(Self.handshake, at: .zero)
        #expect(Self.code(server.receive(Self.text(packet), at: .zero)) == .malformedPacket)
        #expect(server.receive(Self.text("4hello"), at: .zero) == nil)
    }

    @Test func aLostTransportEndsTheSession() throws {
        var pair = try Pair()
        #expect(Self.code(pair.client.transportEnded()) == .transportError)
        #expect(pair.client.transportEnded() == nil)
    }
}
