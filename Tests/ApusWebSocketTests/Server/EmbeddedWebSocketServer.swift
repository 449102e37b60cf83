@testable import ApusWebSocket
import ApusWebSocketProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded

/// One connection to a server without a web framework, on an embedded channel with manual time.
final class EmbeddedWebSocketServer {
    let channel = EmbeddedChannel()
    let server: WebSocketServer
    /// How the connection ended.
    let closure = NIOLockedValueBox<WebSocketClosure?>(nil)

    init(
        _ configuration: WebSocketServerConfiguration = .init(), address: String = "203.0.113.7",
        onOpen: @escaping @Sendable (WebSocketConnection) -> Void = { _ in }
    ) throws {
        self.server = WebSocketServer(
            configuration: configuration,
            onOpen: { [closure] connection in
                connection.onClose { end in closure.withLockedValue { $0 = end } }
                onOpen(connection)
            })
        try self.channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
        try self.server.configure(self.channel, tls: nil)
    }

    /// Returns a valid handshake request with additional lines.
    static func request(_ path: String = "/", _ lines: String...) -> String { self.request(path, lines: lines) }

    static func request(_ path: String, lines: [String]) -> String {
        let lines =
            [
                "GET \(path) HTTP/1.1", "Host: a.example", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
            ] + lines
        return lines.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    var isOpen: Bool { self.channel.isActive }

    func send(_ text: some StringProtocol) throws { try self.send(ByteBuffer(string: String(text))) }

    func send(_ bytes: ByteBuffer) throws {
        try self.channel.writeInbound(bytes)
        self.channel.embeddedEventLoop.run()
    }

    func send(_ frame: WebSocketFrame) throws {
        var bytes = ByteBuffer()
        WebSocketFrameEncoder.write(frame, maskingKey: WebSocketMaskingKey(word: 0x1234_5678), into: &bytes)
        try self.send(bytes)
    }

    func pass(_ time: Duration) { self.channel.embeddedEventLoop.advanceTime(by: TimeAmount(time)) }

    /// Returns the bytes written since the last call.
    func written() throws -> ByteBuffer {
        var bytes = ByteBuffer()
        while var more = try self.channel.readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&more) }
        return bytes
    }

    /// Returns the status of the response, and its text.
    func answer() throws -> (status: Int?, text: String) {
        let text = String(buffer: try self.written())
        return (text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) }, text)
    }

    /// Returns the frames that the server has sent.
    func frames() throws -> [WebSocketFrame] {
        var bytes = try self.written()
        var decoder = WebSocketFrameDecoder(role: .client, limits: .init())
        var frames: [WebSocketFrame] = []
        if let error = decoder.decode(&bytes, into: &frames) { throw error }
        return frames
    }

    /// Returns a server after a successful handshake.
    static func opened(
        _ configuration: WebSocketServerConfiguration = .init(), onOpen: @escaping @Sendable (WebSocketConnection) -> Void = { _ in }
    ) throws -> EmbeddedWebSocketServer {
        let server = try EmbeddedWebSocketServer(configuration, onOpen: onOpen)
        try server.send(self.request())
        _ = try server.written()
        return server
    }
}
