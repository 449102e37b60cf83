public import ApusEngineIOProtocol

/// The encoding of packets as messages. Both peers must use the same one, because the protocol does
/// not negotiate it.
///
/// Source: the option `parser` of socket.io for Node.
public struct SocketIOParser: Sendable {
    /// JSON is a case of its own, so that the most common format needs no lookup and no box.
    private enum Kind {
        case json
        case messagePack
        // Indirect, because it is larger than the other cases and every connection holds a parser.
        indirect case custom(any SocketIOPacketParser)
    }

    private let kind: Kind

    /// JSON, with binary data in separate messages. The default.
    ///
    /// Source: Socket.IO protocol v5, "Packet encoding".
    public static let json = Self(kind: .json)

    /// MessagePack: one binary message per packet, with binary data in place. It is smaller for
    /// packets with much binary data or many numbers, and slower in browsers.
    ///
    /// A date remains a date, `JSONValue.date(_:)`, in both directions. NaN and the infinities
    /// arrive as null, as in JSON.
    ///
    /// Source: `socket.io-msgpack-parser` 3; `serializer="msgpack"` in python-socketio.
    public static let messagePack = Self(kind: .messagePack)

    /// Returns a parser with a custom format.
    public static func custom(_ parser: some SocketIOPacketParser) -> Self { Self(kind: .custom(parser)) }

    /// Encodes a packet as messages, to be sent in this order without other messages in between.
    ///
    /// - Throws: ``SocketIOError/Code/invalidArguments`` if the packet cannot be encoded.
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
                throw SocketIOError(.invalidArguments, message: "the custom parser could not encode a packet", cause: error)
            }
        }
    }

    /// Encodes a packet as messages, to be sent in this order without other messages in between.
    ///
    /// - Throws: ``SocketIOError/Code/invalidArguments`` if the packet cannot be encoded.
    public func encode(_ packet: SocketIOPacket) throws(SocketIOError) -> [EngineIOMessage] { try self.encode(UndecodedPacket(packet)) }

    /// Appends the text of an event or an ack to `bytes`, if its encoding is a single text message.
    ///
    /// - Parameter omitsText: Whether to omit arguments that were received as text. The caller
    ///   inserts them before the last byte.
    /// - Returns: `false`, with nothing appended, if the packet needs
    ///   `encode`.
    /// - Throws: The errors of `encode`. Discard the appended bytes then.
    package func writeText(
        of call: EventOrAck, _ arguments: SocketIOPayload, omitsText: Bool = false, namespace: String, into bytes: inout [UInt8]
    ) throws(SocketIOError) -> Bool {
        guard case .json = self.kind, !arguments.containsBinary else { return false }
        try UndecodedPacket.checkSent(namespace: namespace)
        try call.checkSent()
        try SocketIOJSONEncoder.writeText(of: call, arguments, omitsText: omitsText, namespace: namespace, into: &bytes)
        return true
    }

    /// Appends the text of a packet to `bytes`, if its encoding is a single text message. Returns
    /// `false` otherwise.
    package func writeText(of undecoded: UndecodedPacket, into bytes: inout [UInt8]) throws(SocketIOError) -> Bool {
        guard case .json = self.kind, !undecoded.content.containsBinary else { return false }
        try undecoded.checkSent()
        try SocketIOJSONEncoder.writeText(of: undecoded, into: &bytes)
        return true
    }

    /// Creates a decoder for one connection.
    public func makeDecoder(version: SocketIOVersion = .v5, limits: SocketIOLimits = SocketIOLimits()) -> Decoder {
        switch self.kind {
        case .json: Decoder(.json, version: version, limits: limits)
        case .messagePack: Decoder(.messagePack, version: version, limits: limits)
        case .custom(let parser): Decoder(.custom(parser.makeDecoder()), version: version, limits: limits)
        }
    }
}

/// A custom encoding of packets. `Examples/SocketIO/AParserOfOnesOwn.swift` is a complete example.
public protocol SocketIOPacketParser: Sendable {
    /// The decoder of one connection.
    associatedtype Decoder: SocketIOPacketDecoder

    /// Encodes a packet as messages, which are sent in this order without other messages in
    /// between.
    ///
    /// It is called on any thread, once per broadcast.
    ///
    /// - Throws: An error that fails the emit, as the cause of a
    ///   ``SocketIOError/Code/invalidArguments``.
    func encode(_ packet: SocketIOPacket) throws -> [EngineIOMessage]

    /// Creates a decoder for a new connection.
    func makeDecoder() -> Decoder
}

/// Decodes the packets of one connection from its messages.
///
/// The bytes are untrusted: check each length before allocating, limit the depth, and never trap.
/// Engine.IO limits the size of a message. The decoded packet is validated: a reserved event name,
/// an auth that is not an object or a negative ack id closes the connection.
public protocol SocketIOPacketDecoder: Sendable {
    /// Decodes the next message. Returns the packet that it completes, or nil if further messages
    /// are due, for which the peer has a deadline.
    ///
    /// - Throws: An error for an invalid message. The connection closes with the reason "parse
    ///   error", and the decoder is not used again.
    mutating func received(_ message: EngineIOMessage) throws -> SocketIOPacket?
}
