import ApusSocketIOServer
import ApusWebSocket
import ApusWebSocketProtocol
import Logging
import NIOCore
import NIOEmbedded

/// The whole route of a message through a server: from the bytes of a read to the handler, and from
/// the handler's answer to the bytes of a write. A round is one read with 16 messages.
extension Work {
    static let routes: [Work] = [
        Work("route: 16 raw WebSocket texts of 64 B echoed") {
            let route = try EmbeddedRoute(raw: ())
            return try route.rounds(of: [.text(Self.letters)], answers: 16)
        },
        Work("route: 16 Socket.IO events of 64 B echoed") { try Self.events("echo") },
        Work("route: 16 Socket.IO events of 64 B acknowledged") { try Self.events("ack", id: "7") },
        Work("route: 16 Socket.IO events of 64 B relayed") { try Self.events("pass") },
        Work("route: 16 Socket.IO events of 64 B echoed in a namespace") { try Self.events("echo", namespace: "/chat") },
        Work("route: 16 Socket.IO events of 64 B echoed, with the admin page") { try Self.events("echo", admin: true) },
        Work("route: 16 Socket.IO events with an attachment of 64 B echoed") {
            let route = try EmbeddedRoute(clients: 1)
            let event = #"451-["echo",{"_placeholder":true,"num":0}]"#
            return try route.rounds(of: [.text(event), .binary(Array(Self.letters.utf8))], answers: 32)
        },
        Work("route: 16 Socket.IO events of 64 B broadcast to 10") {
            let route = try EmbeddedRoute(clients: 10)
            return try route.rounds(of: [.text(Self.event("bc"))], answers: 160)
        },
    ]

    private static let letters = String(repeating: "x", count: 64)

    private static func event(_ name: String, namespace: String = "/", id: String = "") -> String {
        "42\(namespace == "/" ? "" : namespace + ",")\(id)[\"\(name)\",\"\(Self.letters)\"]"
    }

    private static func events(
        _ name: String, namespace: String = "/", id: String = "", admin: Bool = false
    ) throws -> (Int) throws -> Void {
        let route = try EmbeddedRoute(clients: 1, namespace: namespace, admin: admin)
        return try route.rounds(of: [.text(Self.event(name, namespace: namespace, id: id))], answers: 16)
    }
}

/// A server with connections on one embedded event loop.
private final class EmbeddedRoute {
    private static let handshake =
        "Host: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    private let eventLoop = EmbeddedEventLoop()
    private var channels: [EmbeddedChannel] = []
    /// The server, which its connections do not keep.
    private let server: any Sendable

    init(raw: Void) throws {
        var configuration = WebSocketServerConfiguration()
        configuration.path = nil
        let server = WebSocketServer(configuration: configuration) { connection in
            connection.onMessage { connection, message in connection.post(message) }
        }
        self.server = server
        try self.connect("/") { try server.configure($0, tls: nil) }
    }

    init(clients: Int, namespace: String = "/", admin: Bool = false) throws {
        let server = SocketIOServer(configuration: .init(), logger: Logger(label: "route"), clock: self.eventLoop)
        if admin { server.enableAdmin(.init(authentication: .none)) }
        self.server = server
        let space = server.namespace(namespace)
        space.onConnection { socket in
            socket.on("echo") { (event: SocketIOReceivedEvent) in socket.emit("echo", arguments: event.arguments) }
            socket.on("ack") { (event: SocketIOReceivedEvent) in event.acknowledge(values: event.arguments) }
            socket.on("pass") { (event: SocketIOReceivedEvent) in socket.emit("pass", payload: event.payload) }
            socket.on("bc") { (event: SocketIOReceivedEvent) in space.emit("bc", arguments: event.arguments) }
        }
        for _ in 0..<clients {
            try self.connect("/socket.io/?EIO=4&transport=websocket") { try server.configure($0, tls: nil) }
            try self.channels.last?.writeInbound(Self.bytes([.text(namespace == "/" ? "40" : "40\(namespace),")]))
            self.eventLoop.run()
        }
    }

    private func connect(_ target: String, _ configure: (EmbeddedChannel) throws -> Void) throws {
        let channel = EmbeddedChannel(loop: self.eventLoop)
        try channel.connect(to: SocketAddress(ipAddress: "203.0.113.7", port: 1)).wait()
        try configure(channel)
        try channel.writeInbound(ByteBuffer(string: "GET \(target) HTTP/1.1\r\n\(Self.handshake)"))
        self.channels.append(channel)
        self.eventLoop.run()
    }

    private static func bytes(_ messages: [WebSocketMessage]) -> ByteBuffer {
        var bytes = ByteBuffer()
        for message in messages {
            let frame = WebSocketFrame(opcode: message.opcode, payload: message.payload)
            WebSocketFrameEncoder.write(frame, maskingKey: WebSocketMaskingKey(word: 0x3d21_fa37), into: &bytes)
        }
        return bytes
    }

    /// Returns a function that sends 16 copies of `messages` from the first client in each round,
    /// and discards the answers of the server.
    ///
    /// - Parameter answers: The number of frames with which the server answers a round.
    func rounds(of messages: [WebSocketMessage], answers: Int) throws -> (Int) throws -> Void {
        let bytes = Self.bytes(Array(repeatElement(messages, count: 16).joined()))
        try self.discardAnswers()
        try self.channels[0].writeInbound(bytes)
        self.eventLoop.run()
        var frames = 0
        for channel in self.channels {
            while var answer = try channel.readOutbound(as: ByteBuffer.self) {
                while let header = answer.readBytes(length: 2), answer.readBytes(length: Int(header[1])) != nil { frames += 1 }
            }
        }
        guard frames == answers else { throw WorkFailure(message: "\(frames) frames of \(answers)") }
        return { rounds in
            for _ in 0..<rounds {
                try self.channels[0].writeInbound(bytes)
                self.eventLoop.run()
                try self.discardAnswers()
            }
        }
    }

    private func discardAnswers() throws {
        for channel in self.channels { while try channel.readOutbound(as: ByteBuffer.self) != nil {} }
    }
}
