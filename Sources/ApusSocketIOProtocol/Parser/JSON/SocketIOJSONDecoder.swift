import ApusBytes
package import ApusEngineIOProtocol
import NIOCore

/// Decodes packets from Engine.IO messages: a text message, then the binary messages that it
/// announces.
///
/// Source: Socket.IO protocol v5, "Packet encoding" and "Sample session". Every error is final: the
/// connection closes with "parse error".
package struct SocketIOJSONDecoder: Sendable {
    /// A packet that awaits attachments. Its values are created last, so that it uses no more
    /// memory than was received.
    private struct Partial {
        var header: SocketIOPacketHeader
        /// The JSON of the packet, already validated.
        var json: ByteBuffer
        var attachments: [ByteBuffer] = []

        var isWhole: Bool { self.attachments.count >= self.header.attachments }
    }

    /// Indirect cases, because every connection has a decoder and most receive no attachments.
    private enum State {
        /// The next message is a text. Transitions to `collecting` or `failed`.
        case idle
        /// The next message is an attachment. Transitions to `idle` after the last one, or to
        /// `failed`.
        indirect case collecting(Partial)
        /// Every later message gets the same error. Final.
        indirect case failed(SocketIOError)
    }

    let version: SocketIOVersion
    let limits: SocketIOLimits
    private var state = State.idle

    package init(version: SocketIOVersion = .v5, limits: SocketIOLimits = SocketIOLimits()) {
        self.version = version
        self.limits = limits
    }

    /// The namespace of the packet that awaits attachments, if any.
    package var namespaceOfPartialPacket: String? {
        if case .collecting(let partial) = self.state { partial.header.namespace } else { nil }
    }

    /// Decodes the next message. Returns the packet that it completes, or nil if attachments are
    /// due.
    ///
    /// - Throws: ``SocketIOError/Code/malformedPacket``, ``SocketIOError/Code/invalidPayload`` or
    ///   ``SocketIOError/Code/tooManyAttachments``, and the same error for every later message.
    package mutating func received(_ message: EngineIOMessage) throws(SocketIOError) -> UndecodedPacket? {
        do throws(SocketIOError) {
            switch message {
            case .text(let text):
                guard case .idle = self.state else { throw self.errorOfUnexpectedText }
                switch try SocketIOPacketText.read(text, version: self.version, limits: self.limits) {
                case .complete(let packet): return packet
                case .announces(let header, let json):
                    self.state = .collecting(Partial(header: header, json: json.detached))
                    return nil
                }
            case .binary(let bytes): return try self.receivedAttachment(bytes)
            }
        } catch {
            self.state = .failed(error)
            throw error
        }
    }

    /// The error of a text message in place of an attachment or after an error.
    private var errorOfUnexpectedText: SocketIOError {
        switch self.state {
        case .failed(let error): error
        case .collecting(let partial):
            SocketIOError(
                .malformedPacket,
                message: "text message received instead of attachment \(partial.attachments.count + 1) of \(partial.header.attachments)")
        case .idle: SocketIOError(.malformedPacket, message: "text message received at the wrong time")
        }
    }

    private mutating func receivedAttachment(_ bytes: ByteBuffer) throws(SocketIOError) -> UndecodedPacket? {
        guard case .collecting(var partial) = self.state else {
            if case .failed(let error) = self.state { throw error }
            throw SocketIOError(.malformedPacket, message: "no packet announced a binary message of \(bytes.readableBytes) bytes")
        }
        self.state = .idle  // avoids a copy of the attachments
        partial.attachments.append(bytes.detached)
        guard partial.isWhole else {
            self.state = .collecting(partial)
            return nil
        }
        return try SocketIOPacketText.packet(
            partial.header, json: partial.json, attachments: partial.attachments, version: self.version, limits: self.limits)
    }
}
