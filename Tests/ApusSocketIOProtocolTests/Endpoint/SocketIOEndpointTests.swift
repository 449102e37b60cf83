import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol
import NIOCore
import Testing

@Suite struct SocketIOEndpointTests {
    private typealias Event = SocketIOEndpoint.Event

    /// Both endpoints, after the open packet.
    private struct Pair {
        var client: SocketIOEndpoint
        var server: SocketIOEndpoint

        init(version: EngineIOVersion = .v4, parser: SocketIOParser = .json, maximumNamespaces: Int = 100) throws {
            let handshake = EngineIOHandshake(
                sid: "a1", upgrades: [], pingInterval: .seconds(25), pingTimeout: .seconds(20), maxPayload: 1_000_000)
            self.client = .client(version: version, parser: parser, at: .zero)
            self.server = .server(handshake, version: version, parser: parser, maximumNamespaces: maximumNamespaces, at: .zero)
            let (atClient, atServer) = self.deliver()
            try #require(atClient == [.opened] && atServer.isEmpty)
        }

        /// Passes the output of each endpoint to the other until neither has any.
        mutating func deliver(at now: Duration = .zero) -> (atClient: [Event], atServer: [Event]) {
            var events: (atClient: [Event], atServer: [Event]) = ([], [])
            while true {
                let toClient = self.server.takeOutput()
                let toServer = self.client.takeOutput()
                if toClient.isEmpty, toServer.isEmpty { return events }
                for frame in toClient { events.atClient += self.client.receive(frame, at: now) }
                for frame in toServer { events.atServer += self.server.receive(frame, at: now) }
            }
        }

        /// Joins a namespace.
        mutating func join(_ namespace: String = "/") throws {
            try self.client.connect(to: namespace)
            _ = self.deliver()
            try self.server.accept(namespace, id: "s1")
            _ = self.deliver()
            try #require(self.client.isConnected(to: namespace) && self.server.isConnected(to: namespace))
        }
    }

    private static func code(_ events: [Event]) -> SocketIOError.Code? {
        if case .ended(let error) = events.last { error.code } else { nil }
    }

    @Test func aClientJoinsWithItsAuth() throws {
        var pair = try Pair()
        try pair.client.connect(to: "/chat", auth: ["token": "t"])
        #expect(pair.deliver().atServer == [.requested(namespace: "/chat", auth: ["token": "t"])])
        #expect(!pair.server.isConnected(to: "/chat"))
        try pair.server.accept("/chat", id: "s1")
        #expect(pair.deliver().atClient == [.connected(namespace: "/chat", id: "s1")])
        #expect(pair.client.isConnected(to: "/chat") && !pair.client.isConnected(to: "/"))
    }

    @Test func aClientIsRefused() throws {
        var pair = try Pair()
        try pair.client.connect()
        _ = pair.deliver()
        try pair.server.refuse("/", message: "no", data: 7)
        let refusal = SocketIOError(.connectRefused, message: "no", data: 7)
        #expect(pair.deliver().atClient == [.refused(namespace: "/", refusal)])
        #expect(throws: SocketIOError.self) { try pair.server.accept("/", id: "s1") }
    }

    @Test(arguments: [EngineIOVersion.v4, .v3]) func eventsAndAcksPassInBothDirections(version: EngineIOVersion) throws {
        var pair = try Pair(version: version)
        if version == .v3 {
            try pair.server.accept("/", id: "")
            #expect(pair.deliver().atClient == [.connected(namespace: "/", id: "a1")])
        } else {
            try pair.join()
        }
        let id = try pair.client.emit("add", [1, 2], wantsAck: true)
        #expect(id == 0)
        #expect(pair.deliver().atServer == [.event(namespace: "/", name: "add", arguments: [1, 2], ackID: 0)])
        try pair.server.acknowledge(0, [3])
        #expect(pair.deliver().atClient == [.acknowledged(namespace: "/", id: 0, arguments: [3])])
        let bytes = SocketIOValue.binary([1, 2, 3])
        #expect(try pair.server.emit("bytes", [bytes]) == nil)
        #expect(pair.deliver().atClient == [.event(namespace: "/", name: "bytes", arguments: [bytes], ackID: nil)])
    }

    @Test func messagePackPasses() throws {
        var pair = try Pair(parser: .messagePack)
        try pair.join()
        try pair.client.emit("a", ["b"])
        #expect(pair.deliver().atServer == [.event(namespace: "/", name: "a", arguments: ["b"], ackID: nil)])
    }

    @Test func eventsBeforeTheAnswerFollowIt() throws {
        var pair = try Pair()
        try pair.client.connect()
        let early = [#"42["early"]"#, #"40{"sid":"s1"}"#].flatMap { pair.client.receive(.text(ByteBuffer(string: $0)), at: .zero) }
        #expect(early == [.connected(namespace: "/", id: "s1"), .event(namespace: "/", name: "early", arguments: [], ackID: nil)])
    }

    @Test func bothEndsLeaveANamespace() throws {
        var pair = try Pair()
        try pair.join()
        try pair.join("/b")
        pair.client.disconnect()
        #expect(pair.deliver().atServer == [.disconnected(namespace: "/")])
        pair.server.disconnect(from: "/b")
        try pair.client.emit("crossing", in: "/b")
        let (atClient, atServer) = pair.deliver()
        #expect(atClient == [.disconnected(namespace: "/b")] && atServer.isEmpty)
        #expect(throws: SocketIOError.self) { try pair.client.emit("late", in: "/b") }
        try pair.join("/b")
    }

    @Test func namespacesOfAClientAreLimited() throws {
        var pair = try Pair(maximumNamespaces: 1)
        try pair.join()
        try pair.client.connect(to: "/b")
        let (atClient, atServer) = pair.deliver()
        #expect(atServer.isEmpty)
        #expect(atClient == [.refused(namespace: "/b", SocketIOError(.connectRefused, message: "Too many namespaces"))])
        // A namespace from which the server disconnected the client does not count.
        pair.server.disconnect()
        #expect(pair.deliver().atClient == [.disconnected(namespace: "/")])
        try pair.join("/b")
    }

    @Test(arguments: [
        #"42["a"]"#, #"40{}"#, "44{}", #"43/b,1[]"#, "45", #"451-/b,["a",{"_placeholder":true,"num":0}]"#, "4x",
    ]) func aServerEndsAfterAnInvalidPacket(text: String) throws {
        var pair = try Pair()
        try pair.client.connect()
        _ = pair.deliver()  // requested, not accepted
        let events = pair.server.receive(.text(ByteBuffer(string: text)), at: .zero)
        guard !text.hasPrefix("43/b") else { return #expect(events.isEmpty) }  // crossed an end on the wire
        #expect(Self.code(events) == .malformedPacket || Self.code(events) == .invalidPayload)
        #expect(pair.server.isFinished)
    }

    @Test func theHeartbeatEndsASilentPeer() throws {
        var pair = try Pair()
        try pair.join()
        #expect(pair.server.deadline == .seconds(25))
        #expect(pair.server.timerFired(at: .seconds(25)).isEmpty)
        #expect(pair.deliver(at: .seconds(25)).atClient.isEmpty)
        #expect(pair.server.isConnected(to: "/"))
        #expect(pair.server.timerFired(at: .seconds(50)).isEmpty)
        #expect(Self.code(pair.server.timerFired(at: .seconds(70))) == .transport)
        #expect(!pair.server.isConnected(to: "/"))
    }

    @Test func aCloseEndsBothSides() throws {
        var pair = try Pair()
        pair.client.close()
        #expect(Self.code(pair.deliver().atServer) == .disconnected)
        #expect(pair.client.isFinished && pair.server.isFinished)
        #expect(throws: SocketIOError.self) { try pair.client.connect() }
    }

    @Test func aServerOfAnotherVersionIsDetected() throws {
        var pair = try Pair()
        try pair.client.connect()
        #expect(Self.code(pair.client.receive(.text(ByteBuffer(string: "40")), at: .zero)) == .unsupportedVersion)
    }
}
