import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusSocketIOProtocol
import NIOCore

/// A packet encoded once, for one socket or for thousands.
struct SocketIOOutbound: Sendable {
    /// What it says, for those who listen to what goes out.
    var content: UndecodedPacket.Content
    private let messages: [EngineIOMessage]
    /// The same messages as WebSocket frames; made only when many sockets share them.
    private let frames: [WebSocketSharedFrame]?
    /// The one of them when it is a text: nearly all broadcasts are that.
    private let text: WebSocketSharedFrame?
    /// Whether it is worth compressing, where the connection compresses at all.
    private let compression: WebSocketCompression

    /// - Parameter deflate: How the server compresses WebSocket messages; asked for when many sockets share the packet.
    init(
        _ packet: UndecodedPacket, parser: SocketIOParser, shared: Bool = false, isCompressed: Bool = true,
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

    /// The same for who keeps it: its bytes are enough.
    var withoutContent: SocketIOOutbound {
        var copy = self
        copy.content = .disconnect
        return copy
    }

    /// What keeping it costs, about.
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
    /// A packet of this namespace, encoded as its clients take it.
    ///
    /// - Throws: What the parser says of a packet that has no form on the wire.
    func encode(
        _ content: UndecodedPacket.Content, shared: Bool = false, isCompressed: Bool = true
    ) throws(SocketIOError) -> SocketIOOutbound {
        try SocketIOOutbound(
            UndecodedPacket(namespace: self.name, content: content), parser: self.parser, shared: shared, isCompressed: isCompressed,
            deflate: shared ? self.deflate : nil)
    }
}
