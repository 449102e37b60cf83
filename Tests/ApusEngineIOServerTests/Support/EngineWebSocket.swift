import ApusTesting
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

/// The client side of a WebSocket on an embedded connection.
final class EngineWebSocket {
    let http: EmbeddedHTTPConnection
    /// The answer to the handshake.
    let answer: EmbeddedHTTPConnection.Answer
    private var bytes = ByteBuffer()
    private var decoder: WebSocketFrameDecoder
    private var machine: WebSocketConnectionStateMachine

    init(_ http: EmbeddedHTTPConnection, _ path: String, fields: HTTPFields = [:]) throws {
        self.http = http
        var all: HTTPFields = [
            .upgrade: "websocket", .connection: "Upgrade", .secWebSocketKey: "dGhlIHNhbXBsZSBub25jZQ==", .secWebSocketVersion: "13",
        ]
        for field in fields { all[field.name] = field.value }
        self.answer = try #require(try http.exchange(.get, path, fields: all))
        let offered: WebSocketDeflateConfiguration? = all[.secWebSocketExtensions] == nil ? nil : .init()
        let deflate = try WebSocketDeflateNegotiation.check(
            self.answer.fields[values: .secWebSocketExtensions], offered: offered)
        self.decoder = WebSocketFrameDecoder(role: .client, limits: .init(), allowedReservedBits: deflate == nil ? [] : .rsv1)
        self.machine = WebSocketConnectionStateMachine(deflate: deflate)
    }

    func send(_ text: String) throws { try self.send(WebSocketFrame(opcode: .text, payload: ByteBuffer(string: text))) }

    func send(_ bytes: [UInt8]) throws { try self.send(WebSocketFrame(opcode: .binary, payload: ByteBuffer(bytes: bytes))) }

    func send(_ frame: WebSocketFrame) throws {
        var buffer = ByteBuffer()
        WebSocketFrameEncoder.write(frame, maskingKey: WebSocketMaskingKey(word: 0x0102_0304), into: &buffer)
        try self.http.channel.writeInbound(buffer)
        self.http.channel.embeddedEventLoop.run()
    }

    /// Returns the received frames: texts, `binary 4`, `close 1000`. A `*` marks compressed ones.
    func received() throws -> [String] {
        self.http.channel.embeddedEventLoop.run()
        while var more = try self.http.channel.readOutbound(as: ByteBuffer.self) { self.bytes.writeBuffer(&more) }
        var frames: [WebSocketFrame] = []
        if let error = self.decoder.decode(&self.bytes, into: &frames) { throw error }
        return try frames.compactMap { frame in
            let mark = frame.reserved.contains(.rsv1) ? "*" : ""
            switch self.machine.receivedFrame(frame) {
            case .deliver(let message):
                return mark + (message.kind == .text ? String(buffer: message.payload) : "binary \(message.payload.readableBytes)")
            case .answerClose(_, let received): return "close \(received.code?.rawValue ?? 1005)"
            case .fail(let error, _): throw error
            case .sendPong, .receivedPong, .finishClose, .doNothing: return nil
            }
        }
    }

    /// Answers a Close frame.
    func answerClose(_ code: WebSocketCloseCode) throws {
        try self.send(WebSocketFrame(opcode: .close, payload: WebSocketClosePayload(code: code, reason: "").encoded))
    }

    /// Ends the connection without a Close frame.
    func vanish() { _ = try? self.http.channel.finish(acceptAlreadyClosed: true) }
}
