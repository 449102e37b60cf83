import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusTesting
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import Testing

/// The upgrade of a polling session to WebSocket, in both versions.
@Suite("Engine.IO rows: upgrade") struct EngineIOUpgradeRowsTests {
    /// A polling session of one version.
    private struct Session {
        let version: Int
        let server: EngineServer
        let sid: String

        init(_ version: Int, _ configure: (inout EngineIOServerConfiguration) -> Void = { _ in }) throws {
            self.version = version
            self.server = try EngineServer {
                $0.allowsEngineIO3 = true
                configure(&$0)
            }
            let open = try #require(try self.server.exchange(.get, "/engine.io/?EIO=\(version)&transport=polling"))
            self.sid = String(try #require(open.body.firstMatch(of: /"sid":"([^"]+)"/)?.1))
        }

        var path: String { "/engine.io/?EIO=\(self.version)&transport=polling&sid=\(self.sid)" }
        func framed(_ packet: String) -> String { self.version == 4 ? packet : "\(packet.utf16.count):\(packet)" }
        func poll() throws -> String? { try self.server.exchange(.get, self.path)?.body }
        func post(_ packet: String) throws -> Int? {
            try self.server.connect().exchange(.post, self.path, body: self.framed(packet))?.status
        }
        func probe() throws -> EngineWebSocket { try self.server.webSocket("EIO=\(self.version)&transport=websocket&sid=\(self.sid)") }
    }

    @Test(arguments: [4, 3]) func row1_theProbeIsAnswered(version: Int) throws {
        let session = try Session(version)
        let probe = try session.probe()
        #expect(probe.answer.status == 101)
        #expect(try probe.received() == [])
        try probe.send("2probe")
        #expect(try probe.received() == ["3probe"])
    }

    @Test(arguments: [4, 3]) func row2_everyPollGetsANoopUntilTheClientPauses(version: Int) throws {
        let session = try Session(version)
        #expect(try session.poll() == nil)
        let probe = try session.probe()
        try probe.send("2probe")
        // The held poll is answered at once.
        #expect(try session.server.http.answer()?.body == session.framed("6"))
        for _ in 0..<3 {
            // Each further poll is answered within 100 ms.
            #expect(try session.poll() == nil)
            session.server.pass(.milliseconds(100))
            #expect(try session.server.http.answer()?.body == session.framed("6"))
        }
    }

    @Test(arguments: [4, 3]) func row3_packetsFlowOverPollingUntilTheClientsFive(version: Int) throws {
        let session = try Session(version)
        let probe = try session.probe()
        try probe.send("2probe")
        #expect(try probe.received() == ["3probe"])
        #expect(try session.post("4by polling") == 200)
        #expect(try session.poll() == session.framed("4by polling"))
        #expect(try session.post("4waiting") == 200)
        #expect(try probe.received() == [])
        try probe.send("5")
        // The WebSocket carries all packets now, those queued for a poll first.
        #expect(try probe.received() == ["4waiting"])
        try probe.send("4hello")
        #expect(try probe.received() == ["4hello"])
        #expect(session.server.sessions.first?.transport == .webSocket)
    }

    @Test(arguments: [4, 3]) func row4_afterTheUpgradePollingIsOver(version: Int) throws {
        let session = try Session(version)
        let webSocket = try session.probe()
        try webSocket.send("2probe")
        try webSocket.send("5")
        #expect(try webSocket.received() == ["3probe"])
        #expect(try session.server.exchange(.get, session.path)?.status == 400)
        #expect(try session.post("4x") == 400)
        let second = try session.probe()
        #expect(try second.received() == ["close 1000"])
        try webSocket.send("4still here")
        #expect(try webSocket.received() == ["4still here"])
        #expect(session.server.engine.sessionCount == 1)
    }

    @Test(arguments: ["5", "2", "2Probe", "2probe2", "3probe", "1", "6", "4hello", "x", ""])
    func row5_anotherFirstPacketClosesTheProbeOnly(packet: String) throws {
        let session = try Session(4)
        let probe = try session.probe()
        try probe.send(packet)
        #expect(try probe.received() == ["close 1000"])
        #expect(try session.post("4x") == 200)
        #expect(try session.poll() == "4x")
        // A second probe is accepted.
        let second = try session.probe()
        try second.send("2probe")
        #expect(try second.received() == ["3probe"])
    }

    @Test func row5_theUpgradeTimeoutClosesTheProbeOnly() throws {
        for says in [nil, "2probe"] {
            let session = try Session(4)
            let probe = try session.probe()
            if let says { try probe.send(says) }
            _ = try probe.received()
            session.server.pass(.milliseconds(9_999))
            #expect(try probe.received() == [])
            session.server.pass(.milliseconds(1))
            #expect(try probe.received() == ["close 1000"])
            #expect(session.server.events == [])
            #expect(try session.post("4x") == 200)
            #expect(try session.poll() == "4x")
        }
    }

    @Test func aProbeThatVanishesLeavesTheSession() throws {
        let session = try Session(4)
        let probe = try session.probe()
        try probe.send("2probe")
        probe.vanish()
        #expect(session.server.events == [])
        // No further noop is sent: the upgrade has ended.
        #expect(try session.poll() == nil)
        session.server.pass(.seconds(1))
        #expect(try session.server.http.answer() == nil)
    }

    @Test func upgradesCanBeForbidden() throws {
        let server = try EngineServer { $0.allowsUpgrades = false }
        let open = try #require(try server.exchange(.get, "/engine.io/?EIO=4&transport=polling"))
        #expect(open.body.contains(#""upgrades":[]"#))
        let sid = try #require(open.body.firstMatch(of: /"sid":"([^"]+)"/)?.1)
        #expect(try server.webSocket("EIO=4&transport=websocket&sid=\(sid)").received() == ["close 1000"])
        #expect(server.engine.sessionCount == 1)
    }
}
