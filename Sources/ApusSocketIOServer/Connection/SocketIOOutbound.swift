import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusSocketIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore

/// A packet that is encoded once for any number of sockets.
struct SocketIOOutbound: Sendable {
    /// The content that listeners to outgoing events receive.
    var content: SocketIOPacket.Content
    private let messages: [EngineIOMessage]
    /// The messages as WebSocket frames; `nil` unless several sockets share them.
    private let frames: [WebSocketSharedFrame]?
    /// The frame of a packet that is a single text message, as most broadcasts are.
    private let text: WebSocketSharedFrame?
    /// The compression preference of the messages.
    private let compression: WebSocketCompression

    /// - Parameter deflate: The server's compression of WebSocket messages, used when many sockets
    ///   share the packet.
    init(
        _ packet: SocketIOPacket, parser: SocketIOParser, shared: Bool = false, isCompressed: Bool = true,
        deflate: WebSocketDeflateConfiguration? = nil
    ) throws(SocketIOError) {
        self.content = packet.content
        let compression: WebSocketCompression = isCompressed ? .automatic : .never
        self.compression = compression
        self.messages = try parser.encode(packet)
        self.frames =
            shared ? self.messages.map { EngineIOSession.webSocketFrame(for: $0, compressing: deflate, compression: compression) } : nil
        self.text = self.frames.flatMap { $0.count == 1 ? $0.first : nil }.flatMap { $0.isText ? $0 : nil }
    }

    func count(in traffic: SocketIOTraffic) {
        for message in self.messages { traffic.sent(bytes: message.readableBytes) }
    }

    /// A copy for storage, with the encoded messages only.
    var withoutContent: SocketIOOutbound {
        var copy = self
        copy.content = .disconnect
        return copy
    }

    /// The approximate number of bytes of the stored packet.
    var bytes: Int {
        let bytes = self.messages.reduce(0) { $0 + $1.readableBytes }
        return self.frames == nil ? bytes : 2 * bytes
    }

    func send(to session: EngineIOSession) {
        if let text, session.send(text: text) { return }
        for index in self.messages.indices {
            session.send(self.messages[index], frame: self.frames?[index], compression: self.compression)
        }
    }
}

extension SocketIONamespace {
    /// Encodes a packet of this namespace.
    ///
    /// - Throws: The parser's error for a packet that cannot be encoded.
    func encode(
        _ content: SocketIOPacket.Content, shared: Bool = false, isCompressed: Bool = true
    ) throws(SocketIOError) -> SocketIOOutbound {
        try SocketIOOutbound(
            SocketIOPacket(namespace: self.name, content: content), parser: self.parser, shared: shared, isCompressed: isCompressed,
            deflate: shared ? self.deflate : nil)
    }
}
