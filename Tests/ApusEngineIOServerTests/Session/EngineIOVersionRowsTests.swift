import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusTesting
import HTTPTypes
import NIOCore
import Testing

/// The differences between versions 3 and 4.
@Suite("Engine.IO rows: versions") struct EngineIOVersionRowsTests {
    private let three = "/engine.io/?EIO=3&transport=polling"

    /// A server and the path of a polling session of version 3.
    private func makeSession3(_ query: String = "") throws -> (EngineServer, String) {
        let server = try EngineServer { $0.allowsEngineIO3 = true }
        let answer = try #require(try server.exchange(.get, self.three + query))
        let match = try #require(answer.body.wholeMatch(of: /([0-9]+):(0\{"sid":"([^"]+)".*\})/))
        #expect(Int(match.1) == match.2.utf16.count)
        return (server, "\(self.three)\(query)&sid=\(match.3)")
    }

    @Test func heartbeat_theServerPingsIn4() throws {
        let server = try EngineServer()
        let webSocket = try server.webSocket("EIO=4&transport=websocket")
        _ = try webSocket.received()
        for _ in 0..<3 {
            server.pass(.seconds(25))
            #expect(try webSocket.received() == ["2"])
            try webSocket.send("3")
        }
        // The timeout starts when the ping is sent.
        server.pass(.seconds(25))
        #expect(try webSocket.received() == ["2"])
        server.pass(.milliseconds(19_999))
        #expect(server.engine.sessionCount == 1)
        server.pass(.milliseconds(1))
        #expect(server.events == ["closed: ping timeout"])
    }

    @Test func heartbeat_theClientPingsIn3() throws {
        let server = try EngineServer { $0.allowsEngineIO3 = true }
        let webSocket = try server.webSocket("EIO=3&transport=websocket")
        _ = try webSocket.received()
        for _ in 0..<3 {
            server.pass(.milliseconds(44_999))
            try webSocket.send("2")
            #expect(try webSocket.received() == ["3"])
        }
        // The server's timer is pingInterval + pingTimeout.
        server.pass(.milliseconds(44_999))
        #expect(server.engine.sessionCount == 1)
        server.pass(.milliseconds(1))
        #expect(server.events == ["closed: ping timeout"])
    }

    @Test func heartbeat_theIntervalStartsAtThePong() throws {
        // The interval starts at the pong, not at the ping.
        let server = try EngineServer()
        let webSocket = try server.webSocket("EIO=4&transport=websocket")
        _ = try webSocket.received()
        server.pass(.seconds(25))
        server.pass(.seconds(15))
        try webSocket.send("3")
        #expect(try webSocket.received() == ["2"])
        server.pass(.milliseconds(24_999))
        #expect(try webSocket.received() == [])
        server.pass(.milliseconds(1))
        #expect(try webSocket.received() == ["2"])
        #expect(server.engine.sessionCount == 1)
    }

    @Test func textPayload_of4() throws {
        let server = try EngineServer()
        let session = try server.handshake()
        #expect(try server.exchange(.post, session, body: "4€😀\u{1e}4b")?.body == "ok")
        #expect(try server.exchange(.get, session)?.body == "4€😀\u{1e}4b")
    }

    @Test func textPayload_of3CountsUTF16() throws {
        let (server, session) = try self.makeSession3()
        #expect(try server.exchange(.post, session, body: "4:4€😀2:4b")?.body == "ok")
        #expect(server.events == ["€😀", "b"])
        let answer = try #require(try server.exchange(.get, session))
        #expect(answer.body == "4:4€😀2:4b")
        #expect(answer.fields[.contentType] == "text/plain; charset=UTF-8")
    }

    @Test func binaryPayload_of3() throws {
        let (server, session) = try self.makeSession3()
        let body: [UInt8] = [0, 2, 0xff, 0x34, 0x61, 1, 4, 0xff, 4, 1, 2, 3]
        try server.http.send(.post, session, fields: [.contentType: "application/octet-stream"], bytes: ByteBuffer(bytes: body))
        #expect(try server.http.answer()?.status == 200)
        #expect(server.events == ["a", "binary 3"])
        let answer = try #require(try server.exchange(.get, session))
        #expect(Array(answer.bytes.readableBytesView) == body)
        #expect(answer.fields[.contentType] == "application/octet-stream")
    }

    @Test func binaryPayload_of4IsRefusedAndTheSessionCloses() throws {
        let server = try EngineServer()
        let session = try server.handshake()
        try server.http.send(.post, session, fields: [.contentType: "application/octet-stream"], bytes: ByteBuffer(bytes: [4, 1]))
        #expect(try server.http.answer()?.status == 400)
        #expect(server.events == ["closed: parse error"])
    }

    @Test func base64Packet() throws {
        let four = try EngineServer()
        let session4 = try four.handshake()
        #expect(try four.exchange(.post, session4, body: "bAQL/")?.body == "ok")
        #expect(try four.exchange(.get, session4)?.body == "bAQL/")
        let (three, session3) = try self.makeSession3("&b64=1")
        #expect(try three.exchange(.post, session3, body: "6:b4AQL/")?.body == "ok")
        #expect(try three.exchange(.get, session3)?.body == "6:b4AQL/")
        // The form of the other version is invalid.
        #expect(try three.exchange(.post, session3, body: "5:bAQL/")?.status == 400)
    }

    @Test func binaryFrame() throws {
        let server = try EngineServer { $0.allowsEngineIO3 = true }
        for (version, frame) in [(3, [4, 1, 2, 255]), (4, [1, 2, 255] as [UInt8])] {
            let webSocket = try server.webSocket("EIO=\(version)&transport=websocket")
            _ = try webSocket.received()
            try webSocket.send(frame)
            #expect(try webSocket.received() == ["binary \(frame.count)"])
            #expect(server.events.last == "binary 3")
        }
    }

    @Test func b64InTheQuery_goesForFramesToo() throws {
        let server = try EngineServer { $0.allowsEngineIO3 = true }
        let webSocket = try server.webSocket("EIO=3&transport=websocket&b64=1")
        _ = try webSocket.received()
        try webSocket.send("b4AQL/")
        #expect(try webSocket.received() == ["b4AQL/"])
    }

    @Test func theExample_anEventAndThreeBytes() throws {
        let (three, session3) = try self.makeSession3("&b64=1")
        let event = "451-[\"€😀\",{\"_placeholder\":true,\"num\":0}]"
        #expect(try three.exchange(.post, session3, body: "\(event.utf16.count):\(event)6:b4AQL/")?.body == "ok")
        #expect(try three.exchange(.get, session3)?.body == "\(event.utf16.count):\(event)6:b4AQL/")
        let four = try EngineServer()
        let session4 = try four.handshake()
        #expect(try four.exchange(.post, session4, body: "\(event)\u{1e}bAQL/")?.body == "ok")
        #expect(try four.exchange(.get, session4)?.body == "\(event)\u{1e}bAQL/")
    }

    @Test(arguments: ["", "EIO=&", "EIO=3&", "EIO=5&", "EIO=abc&", "EIO=44&"])
    func anyVersionButFourIsRefusedWithCode5(version: String) throws {
        let server = try EngineServer()
        let refusal = #"{"code":5,"message":"Unsupported protocol version"}"#
        #expect(try server.exchange(.get, "/engine.io/?\(version)transport=polling")?.body == refusal)
        let webSocket = try server.webSocket("\(version)transport=websocket")
        #expect(webSocket.answer.status == 400)
        #expect(webSocket.answer.body == refusal)
    }
}
