public import ApusEngineIOProtocol

/// The encoding of packets as messages. Both peers must use the same encoding, because the protocol
/// does not negotiate it.
///
/// Source: the option `parser` of socket.io for Node.
public struct SocketIOParser: Sendable {
    /// JSON is a separate case, so that the most common format needs no dynamic dispatch and no
    /// existential.
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

    /// MessagePack: one binary message per packet, with binary data in place. Compared to JSON,
    /// packets with much binary data or many numbers are smaller. Browsers process it more slowly.
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
    /// - Throws: ``SocketIOError/Code/invalidUse`` if the packet cannot be encoded.
    public func encode(_ packet: SocketIOPacket) throws(SocketIOError) -> [EngineIOMessage] {
        try packet.content.checkSent(to: packet.namespace)
        switch self.kind {
        case .json: return try SocketIOJSONEncoder.encode(checked: packet)
        case .messagePack: return try SocketIOMessagePackCodec.encode(checked: packet)
        case .custom(let parser):
            do {
                return try parser.encode(packet)
            } catch let error as SocketIOError {
                throw error
            } catch {
                throw SocketIOError(.invalidUse, message: "the custom parser could not encode a packet", cause: error)
            }
        }
    }

    /// Appends the text of a packet to `bytes`, if its encoding is a single text message.
    ///
    /// - Parameters:
    ///   - content: The content of the packet.
    ///   - omitsText: Whether to omit arguments that were received as text. The caller inserts them
    ///     before the last byte.
    /// - Returns: `false`, with nothing appended, if the packet needs `encode`.
    /// - Throws: The errors of `encode`. The caller then discards the appended bytes.
    package func writeText(
        of content: SocketIOPacket.Content, omitsText: Bool = false, namespace: String, into bytes: inout [UInt8]
    ) throws(SocketIOError) -> Bool {
        guard case .json = self.kind, !content.arguments.containsBinary else { return false }
        try content.checkSent(to: namespace)
        try SocketIOJSONEncoder.writeText(of: content, omitsText: omitsText, namespace: namespace, into: &bytes)
        return true
    }

    /// Creates a decoder for one connection.
    ///
    /// - Parameters:
    ///   - version: The revision of the protocol. Default: 5.
    ///   - limits: The limits on received packets.
    public func makeDecoder(version: SocketIOVersion = .v5, limits: SocketIOLimits = SocketIOLimits()) -> Decoder {
        switch self.kind {
        case .json: Decoder(.json, version: version, limits: limits)
        case .messagePack: Decoder(.messagePack, version: version, limits: limits)
        case .custom(let parser): Decoder(.custom(parser.makeDecoder()), version: version, limits: limits)
        }
    }
}

extension SocketIOParser {
    /// Decodes the packets of one connection in the format of its parser. Every error is final.
    public struct Decoder: Sendable {
        enum Kind {
            case json, messagePack
            /// The decoder of a custom parser. Indirect, because it is large and rare.
            indirect case custom(any SocketIOPacketDecoder)
            /// The error of a format other than JSON. The JSON decoder stores its own error. Final.
            indirect case failed(SocketIOError)
        }

        private var kind: Kind
        private var json: SocketIOJSONDecoder

        init(_ kind: Kind, version: SocketIOVersion, limits: SocketIOLimits) {
            self.kind = kind
            self.json = SocketIOJSONDecoder(version: version, limits: limits)
        }

        /// The namespace of the packet that awaits attachments; `nil` if there is no such packet,
        /// or if the format is not JSON.
        package var namespaceOfPartialPacket: String? { self.json.namespaceOfPartialPacket }

        /// Decodes the next message. Returns the packet that it completes, with its binary data in
        /// place, or `nil` if further messages are due.
        ///
        /// - Throws: ``SocketIOError/Code/malformedPacket``, ``SocketIOError/Code/invalidPayload``
        ///   or ``SocketIOError/Code/tooManyAttachments``, and the same error for every later
        ///   message.
        public mutating func received(_ message: EngineIOMessage) throws(SocketIOError) -> SocketIOPacket? {
            if case .json = self.kind { return try self.json.received(message) }
            do throws(SocketIOError) {
                let packet = try self.receivedOther(message)
                try packet?.checkReceived(limits: self.json.limits, version: self.json.version)
                return packet
            } catch {
                self.kind = .failed(error)
                throw error
            }
        }

        private mutating func receivedOther(_ message: EngineIOMessage) throws(SocketIOError) -> SocketIOPacket? {
            switch self.kind {
            case .json: return nil  // handled by the caller
            case .messagePack: return try SocketIOMessagePackCodec.decode(message, version: self.json.version, limits: self.json.limits)
            case .failed(let error): throw error
            case .custom(var decoder):
                self.kind = .json  // released, so that the decoder is mutated in place
                defer { self.kind = .custom(decoder) }
                do {
                    return try decoder.received(message)
                } catch let error as SocketIOError {
                    throw error
                } catch {
                    throw SocketIOError(.malformedPacket, message: "the custom parser rejected a message", cause: error)
                }
            }
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
    /// It is called on any thread, once for each emit or broadcast.
    ///
    /// - Throws: An error that fails the emit. An error other than a ``SocketIOError`` becomes the
    ///   cause of a ``SocketIOError/Code/invalidUse``.
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
    /// Decodes the next message. Returns the packet that the message completes, or `nil` if further
    /// messages must follow, which the peer must send before a deadline.
    ///
    /// - Throws: An error for an invalid message. The connection closes with the reason "parse
    ///   error", and the decoder is not used again.
    mutating func received(_ message: EngineIOMessage) throws -> SocketIOPacket?
}
