import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

/// Connection state recovery on the wire: `40{"sid","pid"}`, then `{"pid","offset"}` in the next
/// CONNECT's auth. Missed packets are sent before the new `40`. The offset is the last argument of
/// each event.
@Suite struct SocketIORecoveryTests {
    private final class World: Sendable {
        private let clock = EmbeddedEventLoop()
        let server: SocketIOServer
        let sockets = NIOLockedValueBox<[SocketIOServerSocket]>([])

        init(_ change: (inout SocketIOServerConfiguration) -> Void = { _ in }) {
            var configuration = SocketIOServerConfiguration()
            configuration.connectionStateRecovery = .init()
            change(&configuration)
            self.server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"), clock: self.clock)
            self.server.namespace("/").onConnection { [sockets] socket in sockets.withLockedValue { $0.append(socket) } }
        }

        var socket: SocketIOServerSocket { get throws { try #require(self.sockets.withLockedValue { $0.last }) } }
        func pass(_ time: TimeAmount) { self.clock.advanceTime(by: time) }

        /// Connects with this auth and splits the first poll into missed packets and the answer to
        /// CONNECT.
        func client(_ auth: SocketIOValue? = nil) throws -> (client: PollingClient, missed: [String], grant: SocketIOValue) {
            let client = try PollingClient(self.server)
            let text = try auth.map { String(decoding: try JSONWriter.bytes(of: $0), as: UTF8.self) } ?? ""
            try client.post("0" + text)
            var packets = try client.poll(keepingIDs: true)
            let last = packets.popLast()
            let grant = try #require(last)
            #expect(grant.first == "0")
            return (client, packets, try JSONReader.read(Array(grant.dropFirst().utf8)))
        }
    }

    private func returning(_ grant: SocketIOValue, offset: SocketIOValue?) -> SocketIOValue {
        var auth: JSONObject = ["token": "t"]
        auth["pid"] = grant["pid"]
        auth["offset"] = offset
        return .object(auth)
    }

    /// Returns the last argument of an event packet.
    private func offset(_ packet: String?) throws -> SocketIOValue {
        let values = try JSONReader.read(Array(try #require(packet).dropFirst().utf8))
        return try #require(values.arrayValue?.last)
    }

    @Test func withoutItNothingChanges() throws {
        let world = World { $0.connectionStateRecovery = nil }
        let (client, _, grant) = try world.client(["pid": "p", "offset": "o"])
        #expect(grant.objectValue?.count == 1)
        #expect(try world.socket.recovery == .none)
        #expect(try world.socket.handshake.auth == ["pid": "p", "offset": "o"])
        world.server.namespace("/").emit("a", 1)
        #expect(try client.poll() == [#"2["a",1]"#])
    }

    @Test func theSocketRecoversWithMissedEventsBeforeItsConnect() throws {
        let world = World()
        let (client, _, grant) = try world.client()
        #expect(grant["pid"]?.stringValue?.count == 20)
        let old = try world.socket
        #expect(old.recovery == .none)
        old.join("red")
        old.data = ["name": "bob"]
        old.setValue(Character("x"), for: "local")
        world.server.namespace("/").emit("got", 1)
        let got = try client.poll()
        #expect(got.count == 1 && got[0].hasPrefix(#"2["got",1,""#))
        try client.lose()
        #expect(!old.isConnected)

        world.server.namespace("/").emit("everybody", 2)
        world.server.namespace("/").to("blue").emit("others", 3)
        world.server.namespace("/").to("red").emit("room", 4)
        world.server.namespace("/").except("red").emit("not you", 5)
        old.emit("you", 6)
        world.server.namespace("/").volatile.emit("volatile", 7)

        let back = try world.client(self.returning(grant, offset: try self.offset(got[0])))
        #expect(back.missed.map { $0.prefix { $0 != "," } } == [#"2["everybody""#, #"2["room""#, #"2["you""#])
        #expect(back.grant["sid"] == grant["sid"])
        #expect(back.grant["pid"] == grant["pid"])
        let socket = try world.socket
        #expect(socket !== old)
        #expect(socket.id == old.id)
        #expect(socket.isRecovered)
        #expect(socket.rooms == ["red", socket.id])
        #expect(socket.data == ["name": "bob"])
        #expect(socket.value(for: "local") == Character("x"))
        // The application does not see the recovery fields.
        #expect(socket.handshake.auth == ["token": "t"])
        world.server.namespace("/").to("red").emit("again", 8)
        // The former socket object still reaches the client.
        old.emit("by the old one", 9)
        let again = try back.client.poll()
        #expect(again.map { $0.prefix { $0 != "," } } == [#"2["again""#, #"2["by the old one""#])
    }

    /// Node needs an earlier event for recovery. Here the answer to CONNECT has an offset.
    @Test(arguments: [true, false]) func aQuietSocketRecovers(knowsTheOffsetOfConnect: Bool) throws {
        let world = World()
        world.server.namespace("/").emit("before", 0)
        let (client, _, grant) = try world.client()
        #expect(grant["offset"]?.stringValue != nil)
        try client.lose()
        world.server.namespace("/").emit("missed", 1)
        let back = try world.client(self.returning(grant, offset: knowsTheOffsetOfConnect ? grant["offset"] : nil))
        #expect(back.missed.count == 1 && back.missed[0].hasPrefix(#"2["missed",1,""#), "\(back.missed)")
        #expect(back.grant["sid"] == grant["sid"])
        #expect(try world.socket.isRecovered)
    }

    /// With Node, a second use of a pid gives two sockets with one sid. Here a pid has one
    /// connection.
    @Test func aPidBelongsToOneConnectionAtATime() throws {
        let world = World()
        let (client, _, grant) = try world.client()
        try client.lose()
        let first = try world.client(self.returning(grant, offset: grant["offset"]))
        #expect(first.grant["sid"] == grant["sid"])
        // The same client, whose connection broke again.
        let second = try world.client(self.returning(grant, offset: grant["offset"]))
        #expect(second.grant["sid"] == grant["sid"])
        #expect(try first.client.poll() == ["HTTP 400"])
        #expect(world.server.namespace("/").sockets.count == 1)
        // An unknown or malformed private id has no effect.
        for auth: SocketIOValue in [["pid": "AAAAAAAAAAAAAAAAAAAA"], ["pid": ""], ["pid": 1], ["pid": grant["sid"] ?? nil], [:]] {
            #expect(try world.client(auth).grant["sid"] != grant["sid"])
        }
        #expect(try second.client.poll() == [])
    }

    /// Node repeats the missed events on a second return without an event in between
    /// (issue 5419 of socketio/socket.io).
    @Test func aSecondReturnRepeatsNothing() throws {
        let world = World()
        let (client, _, grant) = try world.client()
        try client.lose()
        world.server.namespace("/").emit("missed", 1)
        let first = try world.client(self.returning(grant, offset: grant["offset"]))
        #expect(first.missed.count == 1)
        try first.client.lose()
        // The client returns with the offset of the event, of the new CONNECT and of the first
        // CONNECT.
        let second = try world.client(self.returning(grant, offset: try self.offset(first.missed.first)))
        #expect(second.missed == [])
        try second.client.lose()
        let third = try world.client(self.returning(grant, offset: second.grant["offset"]))
        #expect(third.missed == [])
        try third.client.lose()
        let fourth = try world.client(self.returning(grant, offset: grant["offset"]))
        #expect(fourth.missed == [])
        #expect(try world.socket.isRecovered)
    }

    @Test func aClientThatMissedTooMuchGetsANewSocket() throws {
        let world = World { $0.connectionStateRecovery?.maximumEvents = 2 }
        let (client, _, grant) = try world.client()
        try world.socket.join("red")
        try client.lose()
        for number in 0..<3 { world.server.namespace("/").emit("missed", number) }
        let back = try world.client(self.returning(grant, offset: grant["offset"]))
        #expect(back.missed == [])
        #expect(back.grant["sid"] != grant["sid"])
        #expect(back.grant["pid"] != grant["pid"])
        let socket = try world.socket
        #expect(socket.recovery == .incomplete)
        #expect(!socket.isRecovered)
        #expect(socket.rooms == [socket.id])
    }

    @Test func itsTimeIsTwoMinutes() throws {
        let world = World()
        let (client, _, grant) = try world.client()
        try client.lose()
        world.pass(.milliseconds(119_999))
        let inTime = try world.client(self.returning(grant, offset: grant["offset"]))
        #expect(inTime.grant["sid"] == grant["sid"])
        try inTime.client.lose()
        world.pass(.seconds(120))
        let late = try world.client(self.returning(grant, offset: grant["offset"]))
        #expect(late.grant["sid"] != grant["sid"])
    }

    /// Sockets that either side disconnected, or that sent a malformed packet, cannot return.
    @Test(arguments: ["1", #"2["bye"]"#, "2{}"]) func anIntentionalDisconnectIsNotRecovered(packet: String) throws {
        let world = World()
        world.server.namespace("/").onConnection { socket in socket.on("bye") { () in socket.disconnect() } }
        let (client, _, grant) = try world.client()
        try client.post(packet)
        let back = try world.client(self.returning(grant, offset: grant["offset"]))
        #expect(back.grant["sid"] != grant["sid"])
    }

    @Test func aLostPingIsALostConnection() throws {
        let world = World()
        let (client, _, grant) = try world.client()
        let reason = NIOLockedValueBox<SocketIOServerDisconnectReason?>(nil)
        try world.socket.onDisconnect { value in reason.withLockedValue { $0 = value } }
        client.pass(.seconds(46))
        #expect(reason.withLockedValue { $0 } == .pingTimeout)
        #expect(try world.client(self.returning(grant, offset: grant["offset"])).grant["sid"] == grant["sid"])
    }

    @Test func middlewareIsSkippedByOption() throws {
        let world = World()
        let (client, _, grant) = try world.client()
        try client.lose()
        world.server.namespace("/").use { _ in throw SocketIOConnectionRefusal(message: "no") }
        #expect(try world.client(self.returning(grant, offset: grant["offset"])).grant["sid"] == grant["sid"])
    }

    @Test func aDynamicNamespaceStaysForLostSockets() throws {
        let world = World()
        let parent = world.server.namespaces { name, _ in name.hasPrefix("/dynamic") }
        let isRecovered = NIOLockedValueBox<[Bool]>([])
        parent.onConnection { socket in isRecovered.withLockedValue { $0.append(socket.isRecovered) } }
        func exists() -> Bool { world.server.allNamespaces.contains { $0.name == "/dynamic" } }

        let first = try PollingClient(world.server)
        try first.post("0/dynamic,")
        let pid = try #require(try first.poll(keepingIDs: true).first?.firstMatch(of: /"pid":"([^"]+)"/)?.1)
        try first.lose()
        #expect(exists())
        let second = try PollingClient(world.server)
        try second.post("0/dynamic,{\"pid\":\"\(pid)\"}")
        #expect(isRecovered.withLockedValue { $0 } == [false, true])
        try second.lose()
        world.pass(.seconds(119))
        first.pass(.seconds(120))
        #expect(exists())
        world.pass(.seconds(2))
        first.pass(.seconds(120))
        second.pass(.seconds(120))
        #expect(!exists())
    }

    @Test func eventsThatAskForAnAckCarryNoOffset() throws {
        let world = World()
        let (client, _, _) = try world.client()
        try world.socket.emitWithAck("question", arguments: ["x"]) { _ in }
        try world.socket.volatile.emit("lost")
        #expect(try client.poll() == [#"20["question","x"]"#])
    }

    @Test func outgoingListenersDoNotSeeTheOffset() throws {
        let world = World()
        let (client, _, _) = try world.client()
        let seen = NIOLockedValueBox<[[SocketIOValue]]>([])
        try world.socket.onAnyOutgoing { _, arguments in seen.withLockedValue { $0.append(arguments) } }
        try world.socket.emit("one", 1)
        world.server.namespace("/").emit("all", 2)
        #expect(seen.withLockedValue { $0 } == [[1], [2]])
        withExtendedLifetime(client) {}
    }

    @Test func aListenerThatEmitsDoesNotOvertake() throws {
        let world = World()
        let (client, _, _) = try world.client()
        let socket = try world.socket
        socket.onAnyOutgoing { event, _ in if event == "first" { socket.emit("second") } }
        socket.emit("first")
        let packets = try client.poll()
        #expect(packets.map { $0.prefix { $0 != "," } } == [#"2["first""#, #"2["second""#])
    }

    /// A 2.x client cannot return and does not know offsets.
    @Test func aClientOfSocketIO2GetsNoOffsets() throws {
        let world = World { $0.engine.allowsEngineIO3 = true }
        let old = try PollingClient(world.server, version: 3)
        #expect(try old.poll() == ["0"])
        let (new, _, _) = try world.client()
        world.server.namespace("/").emit("all", "x")
        #expect(try old.poll() == [#"2["all","x"]"#])
        #expect(try new.poll().first?.hasPrefix(#"2["all","x",""#) == true)
        try world.sockets.withLockedValue { try #require($0.first) }.emit("one", "y")
        #expect(try old.poll() == [#"2["one","y"]"#])
    }

    /// A relayed text must not be taken for the client's offset.
    @Test func aTextThatLooksLikeAnOffsetIsNotTreatedAsOne() throws {
        let world = World()
        let (client, _, grant) = try world.client()
        let mark = try #require(grant["offset"]?.stringValue?.split(separator: ".").first)
        func relayed(_ text: String, _ emit: (SocketIOValue) throws -> Void) throws -> String? {
            #expect(try client.poll() == [])
            try emit(.string(text))
            client.pass(.zero)
            return try client.poll().first
        }
        let namespace = world.server.namespace("/")
        for text in ["\(mark).zzz", "\(mark)."] {
            // An event that requests an ack carries no offset.
            let all = try #require(try relayed(text) { namespace.volatile.emit("e", arguments: [$0]) })
            #expect(all.wholeMatch(of: /2[0-9]+\["e","[^"]*"\]/) != nil, "\(all)")
            let one = try #require(try relayed(text) { try world.socket.volatile.emit("e", arguments: [$0]) })
            #expect(one.wholeMatch(of: /2[0-9]+\["e","[^"]*"\]/) != nil, "\(one)")
        }
        #expect(try relayed("hello") { namespace.volatile.emit("e", arguments: [$0]) } == #"2["e","hello"]"#)
        // An ack that was not requested has no effect.
        try client.post("30[]")
        #expect(world.server.clientCount == 1)
    }

    @Test func eventsForASocketThatLeftPermanentlyAreNotKept() throws {
        let world = World { $0.connectionStateRecovery = .init(maximumEvents: 2) }
        let (lost, _, grant) = try world.client()
        world.server.namespace("/").emit("got", 1)
        let got = try lost.poll()
        let (leaver, _, _) = try world.client()
        let gone = try world.socket
        try leaver.post("1")
        try lost.lose()
        world.server.namespace("/").emit("missed", 2)
        for number in 0..<5 { gone.emit("to nobody", number) }
        let back = try world.client(self.returning(grant, offset: try self.offset(got[0])))
        #expect(back.missed.count == 1)
        #expect(try world.socket.isRecovered)
    }
}
