package import ApusEngineIOProtocol

extension SocketIOParser {
    /// Puts the packets of one connection together, whichever way they are written. Every error is final.
    package struct Decoder: Sendable {
        enum Kind {
            case json, messagePack
            /// The parser's own. In a box, for it is larger than all else, and rare.
            indirect case custom(any SocketIOPacketDecoder)
            /// Of what is not JSON, which keeps its own. Final.
            indirect case failed(SocketIOError)
        }

        private var kind: Kind
        private var json: SocketIOJSONDecoder

        init(_ kind: Kind, version: SocketIOVersion, limits: SocketIOLimits) {
            self.kind = kind
            self.json = SocketIOJSONDecoder(version: version, limits: limits)
        }

        /// The namespace of the packet that waits for its attachments; nil when none does, or another parser reads it.
        package var namespaceOfPartialPacket: String? { self.json.namespaceOfPartialPacket }

        /// Takes the next message; answers the packet it completes, nil while more are due.
        ///
        /// - Throws: ``SocketIOError/Code/malformedPacket``, ``SocketIOError/Code/invalidPayload`` or ``SocketIOError/Code/tooManyAttachments``,
        ///   and the same error for every message after it.
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

        private mutating func receivedOther(_ message: EngineIOMessage) throws(SocketIOError) -> SocketIOPacket? {
            switch self.kind {
            case .json: return nil  // has left already
            case .messagePack: return try SocketIOMessagePackCodec.decode(message, version: self.json.version, limits: self.json.limits)
            case .failed(let error): throw error
            case .custom(var decoder):
                self.kind = .json  // let go of, so that the decoder is changed in place
                defer { self.kind = .custom(decoder) }
                do {
                    return try decoder.received(message)
                } catch let error as SocketIOError {
                    throw error
                } catch {
                    throw SocketIOError(.malformedPacket, message: "the parser refused a message", cause: error)
                }
            }
        }
    }
}
