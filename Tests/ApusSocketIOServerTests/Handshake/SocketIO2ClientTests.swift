import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import ApusTesting
import HTTPTypes
import Logging
import Testing

/// A packet in its form within a text body.
private func framed(_ packet: String) -> String { "\(packet.utf16.count):\(packet)" }

/// A polling client of Socket.IO 2.x (Engine.IO 3) that compares exact bodies.
@Suite("A client of Socket.IO 2.x") struct SocketIO2ClientTests {
    private let server: SocketIOServer
    private let http: EmbeddedHTTPConnection
    private let path: String
    private let sid: String

    init() throws {
        var configuration = SocketIOServerConfiguration()
        configuration.engine.allowsEngineIO3 = true
        self.server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        self.server.namespace("/").onConnection { socket in
            socket.on("ack") { (event: SocketIOReceivedEvent) in event.acknowledge(values: event.arguments) }
            socket.on("echo") { (event: SocketIOReceivedEvent) in socket.emit("echo", arguments: event.arguments) }
        }
        self.server.namespace("/adm").use { socket in
            guard socket.handshake.auth["tok"] == "1" else { throw SocketIOConnectionRefusal(message: "no", data: nil) }
        }
        self.http = try EmbeddedHTTPConnection(self.server.channelHandlers())
        let answer = try #require(try self.http.exchange(.get, "/socket.io/?EIO=3&transport=polling"))
        #expect(answer.status == 200)
        let match = try #require(answer.body.firstMatch(of: /^([0-9]+):(0\{"sid":"([^"]+)".*\})$/))
        #expect(Int(match.1) == match.2.utf16.count)
        self.sid = String(match.3)
        self.path = "/socket.io/?EIO=3&transport=polling&sid=\(match.3)"
    }

    private func poll() throws -> String? { try self.http.exchange(.get, self.path)?.body }
    private func post(_ body: String) throws -> Int? { try self.http.exchange(.post, self.path, body: body)?.status }

    @Test func isInTheRootUnasked() throws {
        #expect(try self.poll() == "2:40")
        // The socket's id is the session's, which the client knows.
        #expect(self.server.namespace("/").sockets.map(\.id) == [self.sid])
    }

    @Test func lengthsAreCountedInUTF16() throws {
        _ = try self.poll()
        let event = #"42["echo","€😀"]"#
        #expect(try self.post(framed(event)) == 200)
        #expect(try self.poll() == framed(event))
    }

    @Test func binaryIsAnsweredInBinary() throws {
        _ = try self.poll()
        #expect(try self.post(framed(#"451-0["ack",{"_placeholder":true,"num":0},"in base64"]"#) + "6:b4AQL/") == 200)
        let answer = try #require(try self.http.exchange(.get, self.path))
        #expect(answer.fields[.contentType] == "application/octet-stream")
        #expect(answer.body.contains(#"461-0[{"_placeholder":true,"num":0},"in base64"]"#))
    }

    @Test func aClientThatCannotTakeBinaryGetsBase64() throws {
        let http = try EmbeddedHTTPConnection(self.server.channelHandlers())
        let open = try #require(try http.exchange(.get, "/socket.io/?EIO=3&transport=polling&b64=1"))
        let sid = try #require(open.body.firstMatch(of: /"sid":"([^"]+)"/)?.1)
        let path = "/socket.io/?EIO=3&transport=polling&b64=1&sid=\(sid)"
        #expect(try http.exchange(.get, path)?.body == "2:40")
        #expect(try http.exchange(.post, path, body: framed(#"451-0["ack",{"_placeholder":true,"num":0}]"#) + "6:b4AQL/")?.status == 200)
        #expect(try http.exchange(.get, path)?.body == framed(#"461-0[{"_placeholder":true,"num":0}]"#) + "6:b4AQL/")
    }

    @Test func itsPingsAreAnsweredAndWithoutThemItIsRemoved() throws {
        _ = try self.poll()
        for _ in 0..<3 {
            self.http.pass(.seconds(25))
            #expect(try self.post("1:2") == 200)
            #expect(try self.poll() == "1:3")
        }
        self.http.pass(.seconds(44))
        #expect(self.server.clientCount == 1)
        self.http.pass(.seconds(2))
        #expect(self.server.clientCount == 0)
    }

    @Test(arguments: [
        ("1:3", "a pong, which is the server's to send"), ("2:41x", "junk"), ("3:2a", "a length that is wrong"), ("4", "no length"),
    ])
    func nonsenseEndsTheSession(body: String, what: String) throws {
        _ = try self.poll()
        _ = try self.post(body)
        #expect(self.server.clientCount == 0, "\(what)")
    }

    @Test func anUnknownNamespaceIsRefusedWithAString() throws {
        _ = try self.poll()
        #expect(try self.post(framed("40/nowhere")) == 200)
        #expect(try self.poll() == framed(#"44/nowhere,"Invalid namespace""#))
    }

    @Test func versions3And4ShareThePort() throws {
        let http = try EmbeddedHTTPConnection(self.server.channelHandlers())
        let answer = try #require(try http.exchange(.get, "/socket.io/?EIO=4&transport=polling"))
        #expect(answer.body.hasPrefix(#"0{"sid":""#))
    }
}
