public import ApusEngineIOProtocol

/// How packets become messages and come back. Both sides must use the same one: nothing in the protocol tells it.
///
/// Source: socket.io's option `parser`.
public struct SocketIOParser: Sendable {
    /// JSON, which nearly everybody uses, is a case of its own: nothing is looked up or boxed on its way.
    private enum Kind {
        case json
        case messagePack
        // In a box: it is larger than all else, and every connection has its parser.
        indirect case custom(any SocketIOPacketParser)
    }

    private let kind: Kind

    /// JSON, binary data beside it in messages of its own. The default everywhere.
    ///
    /// Source: Socket.IO protocol v5, "Packet encoding".
    public static let json = Self(kind: .json)

    /// MessagePack: a packet is one binary message, binary data in place. Smaller where there is much binary data or many numbers, and slower
    /// for browsers.
    ///
    /// Source: `socket.io-msgpack-parser` 3; python-socketio calls it `serializer="msgpack"`. A date stays a
    /// date, `JSONValue.date(_:)`, in both directions. NaN and the infinities arrive as null, as they would by JSON.
    public static let messagePack = Self(kind: .messagePack)

    /// A parser of your own.
    public static func custom(_ parser: some SocketIOPacketParser) -> Self { Self(kind: .custom(parser)) }

    /// The messages of a packet, to be sent in this order with nothing in between.
    ///
    /// - Throws: ``SocketIOError/Code/invalidArguments`` for what has no form on the wire.
    package func encode(_ undecoded: UndecodedPacket) throws(SocketIOError) -> [EngineIOMessage] {
        try undecoded.checkSent()
        switch self.kind {
        case .json: return try SocketIOJSONEncoder.encode(checked: undecoded)
        case .messagePack: return try SocketIOMessagePackCodec.encode(checked: undecoded.packet)
        case .custom(let parser):
            do {
                return try parser.encode(undecoded.packet)
            } catch let error as SocketIOError {
                throw error
            } catch {
                throw SocketIOError(.invalidArguments, message: "the parser could not write a packet", cause: error)
            }
        }
    }

    /// The messages of a packet; see ``encode(_:)-(UndecodedPacket)``.
    package func encode(_ packet: SocketIOPacket) throws(SocketIOError) -> [EngineIOMessage] { try self.encode(UndecodedPacket(packet)) }

    /// Appends the text of an event or an ack to `bytes`, when one text message is all there is to it.
    ///
    /// - Parameter leavesOutText: Leaves out the arguments, which came as text; they belong before the last byte.
    /// - Returns: `false` when it takes more, or is written in another way: ``encode(_:)-(UndecodedPacket)`` then. Nothing was appended.
    /// - Throws: As that does; what was appended is of no use then.
    package func writeText(
        of call: EventOrAck, _ arguments: SocketIOPayload, leavesOutText: Bool = false, namespace: String, into bytes: inout [UInt8]
    ) throws(SocketIOError) -> Bool {
        guard case .json = self.kind, !arguments.containsBinary else { return false }
        try UndecodedPacket.checkSent(namespace: namespace)
        try call.checkSent()
        try SocketIOJSONEncoder.writeText(of: call, arguments, leavesOutText: leavesOutText, namespace: namespace, into: &bytes)
        return true
    }

    /// The same for any packet.
    package func writeText(of undecoded: UndecodedPacket, into bytes: inout [UInt8]) throws(SocketIOError) -> Bool {
        guard case .json = self.kind, !undecoded.content.containsBinary else { return false }
        try undecoded.checkSent()
        try SocketIOJSONEncoder.writeText(of: undecoded, into: &bytes)
        return true
    }

    /// A decoder for one connection.
    package func makeDecoder(version: SocketIOVersion = .v5, limits: SocketIOLimits = SocketIOLimits()) -> Decoder {
        switch self.kind {
        case .json: Decoder(.json, version: version, limits: limits)
        case .messagePack: Decoder(.messagePack, version: version, limits: limits)
        case .custom(let parser): Decoder(.custom(parser.makeDecoder()), version: version, limits: limits)
        }
    }
}

/// A way of one's own to write packets. `Examples/SocketIO/AParserOfOnesOwn.swift` is a whole one.
public protocol SocketIOPacketParser: Sendable {
    /// What puts the packets of one connection together.
    associatedtype Decoder: SocketIOPacketDecoder

    /// The messages of a packet, sent in this order with nothing in between. Called on any thread; a broadcast is encoded once.
    ///
    /// - Throws: What makes the emit fail, as the cause of a ``SocketIOError/Code/invalidArguments``.
    func encode(_ packet: SocketIOPacket) throws -> [EngineIOMessage]

    /// A decoder for a new connection.
    func makeDecoder() -> Decoder
}

/// Puts the packets of one connection together from its messages.
///
/// Bytes come from a stranger: check every length before you allocate, bound the depth, never trap. The size of a message is bounded below, by
/// Engine.IO. What comes out is checked again: reserved event names, an auth that is no object or a negative ack id close the connection.
public protocol SocketIOPacketDecoder: Sendable {
    /// Takes the next message; answers the packet it completes, nil while more messages are due (for which the peer has a deadline).
    ///
    /// - Throws: Whatever is wrong with the message. The connection closes with the reason "parse error"; nothing is asked of this decoder again.
    mutating func received(_ message: EngineIOMessage) throws -> SocketIOPacket?
}
