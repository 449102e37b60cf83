import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import ApusTesting
import Foundation
import HTTPTypes
import Logging
import NIOCore
import Testing

/// A polling client that posts and polls whole bodies.
private struct Client {
    let http: EmbeddedHTTPConnection
    let path: String

    init(_ server: SocketIOServer) throws {
        self.http = try EmbeddedHTTPConnection(server.channelHandlers())
        let answer = try #require(try self.http.exchange(.get, "/socket.io/?EIO=4&transport=polling"))
        let sid = try #require(answer.body.firstMatch(of: /"sid":"([^"]+)"/)?.1)
        self.path = "/socket.io/?EIO=4&transport=polling&sid=\(sid)"
    }

    func post(_ body: String) throws { #expect(try self.http.exchange(.post, self.path, body: body)?.status == 200) }

    func poll() throws -> [String] {
        try #require(try self.http.exchange(.get, self.path)).body.split(separator: "\u{1e}").map(String.init)
    }

    /// Posts values as MessagePack, each as a binary message in base64.
    func post(_ values: SocketIOValue...) throws {
        let bodies = try values.map { value in
            var buffer = ByteBuffer()
            try MessagePack.write(value, into: &buffer)
            return "b" + Data(buffer.readableBytesView).base64EncodedString()
        }
        try self.post(bodies.joined(separator: "\u{1e}"))
    }

    func pollMessagePack() throws -> [SocketIOValue] {
        try self.poll().map { message in
            try #require(message.hasPrefix("b"))
            return try MessagePack.read(ByteBuffer(bytes: try #require(Data(base64Encoded: String(message.dropFirst())))))
        }
    }
}

@Suite("A server that speaks MessagePack") struct SocketIOServerMessagePackTests {
    private let server: SocketIOServer

    init() {
        var configuration = SocketIOServerConfiguration()
        configuration.parser = .messagePack
        self.server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        let namespace = self.server.namespace("/")
        namespace.onConnection { socket in
            socket.on("echo") { (event: SocketIOReceivedEvent) in
                socket.emit("echo", arguments: event.arguments)
                event.acknowledge(values: event.arguments)
            }
            socket.on("all") { (event: SocketIOReceivedEvent) in namespace.emit("all", arguments: event.arguments) }
        }
    }

    @Test func wholePacketsAreBinaryMessages() throws {
        let client = try Client(self.server)
        try client.post(["type": 0, "nsp": "/", "data": nil])
        let granted = try client.pollMessagePack()
        #expect(granted.count == 1)
        #expect(granted.first?["type"] == 0)
        #expect(granted.first?["data"]?["sid"]?.stringValue?.utf8.count == 20)
        let arguments: [SocketIOValue] = [1, "é", .binary([1, 2]), ["deep": [.binary([])]]]
        try client.post(
            ["type": 2, "nsp": "/", "data": .array(["echo"] + arguments), "id": 3], ["type": 2, "nsp": "/", "data": ["all", 1]])
        #expect(
            try client.pollMessagePack() == [
                ["type": 2, "nsp": "/", "data": .array(["echo"] + arguments)],
                ["type": 3, "nsp": "/", "id": 3, "data": .array(arguments)],
                ["type": 2, "nsp": "/", "data": ["all", 1]],
            ])
    }

    @Test func anUnknownNamespaceIsRefused() throws {
        let client = try Client(self.server)
        try client.post(["type": 0, "nsp": "/nowhere"])
        #expect(try client.pollMessagePack() == [["type": 4, "nsp": "/nowhere", "data": ["message": "Invalid namespace"]]])
    }

    @Test func jsonIsAParseError() throws {
        let client = try Client(self.server)
        #expect(try client.http.exchange(.post, client.path, body: "40")?.status == 400)
        #expect(self.server.clientCount == 0)
    }
}

@Suite("Attachments have a deadline") struct SocketIOAttachmentsDeadlineTests {
    private let server: SocketIOServer

    init() {
        var configuration = SocketIOServerConfiguration()
        configuration.attachmentsTimeout = .seconds(5)
        self.server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        self.server.namespace("/").onConnection { socket in
            socket.on("count") { (event: SocketIOReceivedEvent) in socket.emit("count", arguments: [.integer(Int64(event.arguments.count))])
            }
        }
    }

    private func connected() throws -> Client {
        let client = try Client(self.server)
        try client.post("40")
        _ = try client.poll()
        return client
    }

    private let announcement = #"452-["count",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]"#

    @Test func attachmentsThatDoNotComeEndTheConnection() throws {
        let client = try self.connected()
        try client.post(self.announcement)
        client.http.pass(.seconds(4))
        #expect(self.server.clientCount == 1)
        client.http.pass(.seconds(2))
        #expect(self.server.clientCount == 0)
    }

    @Test func slowAttachmentsDoNotExtendTheDeadline() throws {
        let client = try self.connected()
        try client.post(self.announcement)
        client.http.pass(.seconds(4))
        try client.post("bAQ==")
        client.http.pass(.seconds(2))
        #expect(self.server.clientCount == 0)
    }

    @Test func theDeadlineEndsWithTheLastAttachment() throws {
        let client = try self.connected()
        for _ in 0..<2 {
            try client.post(self.announcement)
            client.http.pass(.seconds(4))
            try client.post("bAQ==\u{1e}bAg==")
            #expect(try client.poll() == [#"42["count",2]"#])
        }
        client.http.pass(.seconds(6))
        #expect(self.server.clientCount == 1)
    }
}
