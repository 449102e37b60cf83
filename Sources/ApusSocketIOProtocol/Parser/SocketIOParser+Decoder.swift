package import ApusEngineIOProtocol

extension SocketIOParser {
    /// Puts the packets of one connection together, whichever way they are written. Every error is final.
    package struct Decoder: Sendable {
        enum Kind {
            case json, messagePack, custom
        }

        private let kind: Kind
        private var json: SocketIOJSONDecoder
        /// Beside the kind rather than in it, so that it is changed in place.
        private var custom: (any SocketIOPacketDecoder)?
        private let version: SocketIOVersion
        private let limits: SocketIOLimits
        /// Of what is not JSON, which keeps its own.
        private var failure: SocketIOError?

        init(_ kind: Kind, custom: (any SocketIOPacketDecoder)? = nil, version: SocketIOVersion, limits: SocketIOLimits) {
            self.kind = kind
            self.json = SocketIOJSONDecoder(version: version, limits: limits)
            self.custom = custom
            self.version = version
            self.limits = limits
        }

        /// Takes the next message; answers the packet it completes, nil while more are due.
        ///
        /// - Throws: ``SocketIOError/Code/malformedPacket``, ``SocketIOError/Code/invalidPayload`` or ``SocketIOError/Code/tooManyAttachments``,
        ///   and the same error for every message after it.
        package mutating func received(_ message: EngineIOMessage) throws(SocketIOError) -> SocketIOParcel? {
            if case .json = self.kind { return try self.json.received(message) }
            if let failure = self.failure { throw failure }
            do throws(SocketIOError) {
                let packet = try self.receivedOther(message)
                try packet?.checkReceived(limits: self.limits, version: self.version)
                return packet.map { SocketIOParcel($0) }
            } catch {
                self.failure = error
                throw error
            }
        }

        private mutating func receivedOther(_ message: EngineIOMessage) throws(SocketIOError) -> SocketIOPacket? {
            switch self.kind {
            case .json: return nil  // has left already
            case .messagePack: return try SocketIOMessagePackCodec.decode(message, version: self.version, limits: self.limits)
            case .custom:
                do {
                    return try self.custom?.received(message)
                } catch let error as SocketIOError {
                    throw error
                } catch {
                    throw SocketIOError(.malformedPacket, message: "the parser refused a message", cause: error)
                }
            }
        }
    }
}
