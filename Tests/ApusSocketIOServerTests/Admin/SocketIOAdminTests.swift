import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOCore
import NIOEmbedded
import Testing

/// An admin page without a login, as a client of `/admin`.
private struct Page {
    let client: PollingClient

    init(_ server: SocketIOServer) throws {
        self.client = try PollingClient(server)
        try self.client.post("0/admin,")
    }

    /// Returns the events since the last call, each as its name and its arguments.
    func events() throws -> [(name: String, arguments: [SocketIOValue])] {
        var events: [(String, [SocketIOValue])] = []
        self.client.pass(.zero)
        while case let packets = try self.client.poll(), !packets.isEmpty {
            for packet in packets where packet.hasPrefix("2/admin,") {
                let values = try JSONReader.read(String(packet.dropFirst("2/admin,".count))).arrayValue ?? []
                events.append((values.first?.stringValue ?? "", Array(values.dropFirst())))
            }
        }
        return events
    }

    func arguments(of name: String) throws -> [SocketIOValue]? { try self.events().last { $0.name == name }?.arguments }

    func command(_ packet: String) throws { try self.client.post("2/admin," + packet) }
}

@Suite struct SocketIOAdminTests {
    private let clock = EmbeddedEventLoop()
    private let server: SocketIOServer

    init() {
        self.server = SocketIOServer(configuration: .init(), logger: Logger(label: "test"), clock: self.clock)
        self.server.namespace("/").onConnection { socket in
            socket.on("join") { (room: String) in socket.join(room) }
            socket.on("echo") { (text: String) in socket.emit("echo", text) }
            socket.on("data") { (value: SocketIOValue) in socket.data = value }
        }
    }

    private func enable(_ change: (inout SocketIOAdminConfiguration) -> Void = { _ in }) {
        var configuration = SocketIOAdminConfiguration(authentication: .none)
        configuration.serverID = "s1"
        change(&configuration)
        self.server.enableAdmin(configuration)
    }

    private func makeClient() throws -> PollingClient {
        let client = try PollingClient(self.server)
        try client.connect()
        return client
    }

    @Test func aPageReceivesItsFeaturesAndTheSockets() throws {
        self.enable()
        _ = try self.makeClient()
        self.server.namespace("/").sockets.first?.data = ["name": "Ann"]
        let page = try Page(self.server)
        let events = try page.events()
        #expect(events.map(\.name) == ["socket_connected", "config", "all_sockets"])
        let features = ["EMIT", "JOIN", "LEAVE", "DISCONNECT", "MJOIN", "MLEAVE", "MDISCONNECT", "AGGREGATED_EVENTS", "ALL_EVENTS"]
        #expect(events[1].arguments == [["supportedFeatures": .array(features.map { .string($0) })]])
        let sockets = try #require(events[2].arguments.first?.arrayValue)
        let socket = try #require(sockets.first { $0["nsp"] == "/" })
        let id = try #require(self.server.namespace("/").sockets.first?.id)
        #expect(sockets.count == 2)
        #expect(socket["id"] == .string(id))
        #expect(socket["rooms"] == [.string(id)])
        #expect(socket["transport"] == "polling")
        #expect(socket["clientId"]?.stringValue?.count == 12)
        #expect(socket["data"] == ["name": "Ann"])
        #expect(socket["handshake"]?["address"] == "127.0.0.1")
        #expect(socket["handshake"]?["query"]?["a"] == "b")
        #expect(socket["handshake"]?["auth"] == nil)
    }

    @Test func figuresComeEveryTwoSeconds() throws {
        self.enable()
        let client = try self.makeClient()
        let page = try Page(self.server)
        _ = try page.events()
        try client.post(#"2["echo","x"]"#)
        self.clock.advanceTime(by: .seconds(2))
        let stats = try #require(try page.arguments(of: "server_stats")?.first)
        #expect(stats["serverId"] == "s1")
        #expect(stats["clientsCount"] == 2)
        #expect(stats["pollingClientsCount"] == 2)
        #expect(stats["uptime"] == .integer(2) || stats["uptime"] == .double(2))
        #expect(stats["namespaces"]?.arrayValue?.compactMap { $0["name"]?.stringValue } == ["/", "/admin"])
        let types = stats["aggregatedEvents"]?.arrayValue?.compactMap { $0["type"]?.stringValue }
        #expect(types == ["rawConnection", "packetsIn", "bytesIn", "packetsOut", "bytesOut"])
        self.clock.advanceTime(by: .milliseconds(1_999))
        #expect(try page.events().isEmpty)
        self.clock.advanceTime(by: .milliseconds(1))
        #expect(try page.arguments(of: "server_stats") != nil)
    }

    @Test func everyEventIsReported() throws {
        self.enable()
        let page = try Page(self.server)
        _ = try page.events()
        let client = try self.makeClient()
        let id = SocketIOValue.string(try #require(self.server.namespace("/").sockets.first?.id))
        #expect(try page.events().map(\.name) == ["room_joined", "socket_connected"])
        try client.post(#"2["join","red"]"#)
        #expect(try page.arguments(of: "room_joined")?.prefix(3) == ["/", "red", id])
        try client.post(#"2["echo","x"]"#)
        let events = try page.events()
        #expect(events.map(\.name) == ["event_received", "event_sent"])
        #expect(events.first?.arguments.prefix(3) == ["/", id, ["echo", "x"]])
        #expect(events.last?.arguments.prefix(3) == ["/", id, ["echo", "x"]])
        try client.post(#"2["data",{"n":1}]"#)
        #expect(try page.arguments(of: "socket_updated") == [["id": id, "nsp": "/", "data": ["n": 1]]])
        try client.post("1")
        let end = try page.events()
        #expect(end.map(\.name) == ["room_left", "room_left", "socket_disconnected"])
        #expect(end.last?.arguments.prefix(3) == ["/", id, "client namespace disconnect"])
        // The JSON form of a JavaScript date.
        let time = try #require(end.last?.arguments.last?.stringValue)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    }

    @Test func laterNamespacesAreReported() throws {
        self.enable()
        let page = try Page(self.server)
        _ = try page.events()
        _ = self.server.namespaces { name, _ in name == "/later" }
        try PollingClient(self.server).connect("0/later,")
        #expect(try page.arguments(of: "socket_connected")?.first?["nsp"] == "/later")
    }

    @Test func commandsArePerformed() throws {
        self.enable()
        let (a, b) = (try self.makeClient(), try self.makeClient())
        let page = try Page(self.server)
        let namespace = self.server.namespace("/")
        let id = try #require(namespace.sockets.first?.id)
        try page.command(#"["join","/","red","\#(id)"]"#)
        #expect(namespace.sockets(in: "red").map(\.id) == [id])
        try page.command(#"["join","/","blue"]"#)
        #expect(namespace.sockets(in: "blue").count == 2)
        try page.command(#"["leave","/","blue","red"]"#)
        #expect(namespace.sockets(in: "blue").count == 1)
        try page.command(#"["emit","/",null,"news",1]"#)
        try page.command(#"["emit","/","red","one"]"#)
        let heard = try [a.poll(), b.poll()].sorted { $0.count < $1.count }
        #expect(heard == [[#"2["news",1]"#], [#"2["news",1]"#, #"2["one"]"#]])
        try page.command(#"["_disconnect","/",false,"red"]"#)
        #expect(namespace.sockets.count == 1)
        try page.command(#"["_disconnect","/",true]"#)
        #expect(namespace.sockets.isEmpty)
    }

    @Test(arguments: [
        #"["join"]"#, #"["join","/"]"#, #"["join",1,2,3]"#, #"["join","/nowhere","red"]"#, #"["join","/","red",{"a":1}]"#,
        #"["leave","/",1]"#,
        #"["emit","/",null]"#, #"["emit","/",7,"x"]"#, #"["_disconnect"]"#, #"["_disconnect","/",true,["x"]]"#,
        #"["_disconnect","/x",true]"#,
    ])
    func anInvalidCommandChangesNothing(command: String) throws {
        self.enable()
        let client = try self.makeClient()
        let page = try Page(self.server)
        try page.command(command)
        #expect(try client.poll() == [])
        #expect(self.server.namespace("/").rooms.count == 1)
        #expect(self.server.clientCount == 2)
    }

    @Test func aReadOnlyPageOnlyLooks() throws {
        self.enable { $0.isReadOnly = true }
        _ = try self.makeClient()
        let page = try Page(self.server)
        try page.command(#"["_disconnect","/",true]"#)
        try page.command(#"["join","/","red"]"#)
        #expect(try page.arguments(of: "config") == [["supportedFeatures": ["AGGREGATED_EVENTS", "ALL_EVENTS"]]])
        #expect(self.server.namespace("/").sockets(in: "red").isEmpty)
        #expect(self.server.clientCount == 2)
    }

    @Test func inProductionThereAreOnlySums() throws {
        self.enable {
            $0.mode = .production
            $0.isReadOnly = true
        }
        let page = try Page(self.server)
        let client = try self.makeClient()
        try client.post(#"2["echo","x"]"#)
        let events = try page.events()
        #expect(events.map(\.name) == ["config"])
        #expect(events.first?.arguments == [["supportedFeatures": ["AGGREGATED_EVENTS"]]])
    }

    @Test func aClusterIsOnePage() throws {
        let hub = SocketIOLocalCluster()
        let servers = (0..<2).map { _ in
            var configuration = SocketIOServerConfiguration()
            configuration.cluster = hub.transport()
            let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"), clock: self.clock)
            server.namespace("/").onConnection { _ in }
            server.enableAdmin(SocketIOAdminConfiguration(authentication: .none))
            return server
        }
        try PollingClient(servers[1]).connect()
        let page = try Page(servers[0])
        let sockets = try #require(try page.arguments(of: "all_sockets")?.first?.arrayValue)
        let far = try #require(sockets.first { $0["nsp"] == "/" })
        #expect(far["transport"] == "polling")
        #expect(far["data"] == [:])
        // The admin details that servers exchange are not part of the application's data.
        let fetched = Box<SocketIOValue>()
        servers[0].namespace("/").fetchSockets { if case .success(let sockets) = $0 { sockets.forEach { fetched.add($0.data) } } }
        #expect(fetched.all == [[:]])
        // Another page, because the first page's connection holds a poll.
        try Page(servers[0]).command(#"["_disconnect","/",false]"#)
        #expect(servers[1].namespace("/").sockets.isEmpty)
        #expect(try page.events().map(\.name).contains("socket_disconnected"))
    }

    // MARK: Logins

    @Test func aPasswordIsKnownByItsHash() throws {
        let password = try SocketIOAdminPassword(hashing: "sécret", logRounds: 4)
        #expect(password.verifies("sécret"))
        #expect(!password.verifies("secret"))
        #expect(!password.verifies(""))
        #expect(!password.text.contains("cret"))
        let kept = try #require(SocketIOAdminPassword(text: password.text))
        #expect(kept.verifies("sécret"))
        #expect(try SocketIOAdminPassword(hashing: "sécret", logRounds: 4).text != password.text, "salted")
        for logRounds in [-1, 0, 23, 63] {
            let error = #expect(throws: SocketIOError.self) { try SocketIOAdminPassword(hashing: "a", logRounds: logRounds) }
            #expect(error?.code == .invalidUse)
        }
        let error = #expect(throws: SocketIOError.self) { try SocketIOAdminPassword(hashing: "secret\u{0}", logRounds: 4) }
        #expect(error?.code == .invalidUse && error?.message.contains("control characters") == true)
    }

    @Test(arguments: [
        "", "secret", "scrypt$14$8$1$AAAA", "scrypt$99$8$1$AAAA$AAAA", "scrypt$14$8$1$AAAA$AAAA", "$2b$10$abcdefghijklmnopqrstuv",
        "scrypt$14$8$0$AAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    ])
    func aTextThatIsNotAHashIsRefused(text: String) {
        #expect(SocketIOAdminPassword(text: text) == nil)
    }

    @Test func aSessionEndsAndTheirNumberIsBounded() {
        var sessions = SocketIOAdminSessions(lifetime: .seconds(10), maximum: 2)
        sessions.save("a", at: .seconds(0))
        #expect(sessions.contains("a", at: .seconds(9)))
        #expect(!sessions.contains("a", at: .seconds(10)))
        #expect(!sessions.contains("b", at: .seconds(9)))
        sessions.save("b", at: .seconds(1))
        sessions.save("c", at: .seconds(2))
        #expect(!sessions.contains("a", at: .seconds(2)), "the oldest made room")
        #expect(sessions.count == 2)
        sessions.save("d", at: .seconds(20))
        #expect(sessions.count == 1)
    }
}
