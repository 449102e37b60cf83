public import ApusEngineIOProtocol

extension SocketIOParser {
    /// Decodes the packets of one connection in the format of its parser. Every error is final.
    public struct Decoder: Sendable {
        enum Kind {
            case json, messagePack
            /// The decoder of a custom parser. Indirect, because it is large and rare.
            indirect case custom(any SocketIOPacketDecoder)
            /// The error of a format other than JSON; the JSON decoder keeps its own. Final.
            indirect case failed(SocketIOError)
        }

        private var kind: Kind
        private var json: SocketIOJSONDecoder

        init(_ kind: Kind, version: SocketIOVersion, limits: SocketIOLimits) {
            self.kind = kind
            self.json = SocketIOJSONDecoder(version: version, limits: limits)
        }

        /// The namespace of the packet that awaits attachments; nil without one, or if the
        /// format is not JSON.
        package var namespaceOfPartialPacket: String? { self.json.namespaceOfPartialPacket }

        /// Decodes the next message. Returns the packet that it completes, or nil if further
        /// messages are due.
        ///
        /// - Throws: ``SocketIOError/Code/malformedPacket``, ``SocketIOError/Code/invalidPayload``
        ///   or ``SocketIOError/Code/tooManyAttachments``, and the same error for every later
        ///   message.
        package mutating func received(_ message: EngineIOMessage) throws(SocketIOError) -> UndecodedPacket? {
            if case .json = self.kind { return try self.json.received(message) }
            do throws(SocketIOError) {
                let packet = try self.receivedOther(message)
                try packet?.checkReceived(limits: self.json.limits, version: self.json.version)
                return packet.map { UndecodedPacket($0) }
            } catch {
                self.kind = .failed(error)
                throw error
            }
        }

        /// Decodes the next message. Returns the packet that it completes, with its binary data in
        /// place, or nil if further messages are due.
        ///
        /// - Throws: ``SocketIOError/Code/malformedPacket``, ``SocketIOError/Code/invalidPayload``
        ///   or ``SocketIOError/Code/tooManyAttachments``, and the same error for every later
        ///   message.
        public mutating func packet(of message: EngineIOMessage) throws(SocketIOError) -> SocketIOPacket? {
            try self.received(message)?.packet
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
