import ApusBytes
package import ApusEngineIOProtocol
import NIOCore

/// Puts packets together from Engine.IO messages: a text, then as many binary messages as it announced.
///
/// Source: Socket.IO protocol v5, "Packet encoding" and "Sample session". Every error is final: the connection closes with "parse error".
package struct SocketIOJSONDecoder: Sendable {
    /// A packet that waits for its attachments. It takes no more memory than was received: its values are made at the end.
    private struct Partial {
        var header: SocketIOPacketHeader
        /// The JSON of the packet, which was checked.
        var json: ByteBuffer
        var attachments: [ByteBuffer] = []

        var isWhole: Bool { self.attachments.count >= self.header.attachments }
    }

    /// Indirect, because most connections get no attachments, and each has its decoder.
    private enum State {
        /// The next message is a text. Leaves to `collecting` or `failed`.
        case idle
        /// The next message is an attachment. Leaves to `idle` with the last one, or to `failed`.
        indirect case collecting(Partial)
        /// Final. Whatever comes gets the same error again.
        indirect case failed(SocketIOError)
    }

    let version: SocketIOVersion
    let limits: SocketIOLimits
    private var state = State.idle

    package init(version: SocketIOVersion = .v5, limits: SocketIOLimits = SocketIOLimits()) {
        self.version = version
        self.limits = limits
    }

    /// The namespace of the packet that waits for its attachments; nil when none does.
    package var namespaceOfPartialPacket: String? {
        if case .collecting(let partial) = self.state { partial.header.namespace } else { nil }
    }

    /// Takes the next message; answers the packet it completes, nil while attachments are outstanding.
    ///
    /// - Throws: ``SocketIOError/Code/malformedPacket``, ``SocketIOError/Code/invalidPayload`` or ``SocketIOError/Code/tooManyAttachments``, and the
    ///   same error for every message after it.
    package mutating func received(_ message: EngineIOMessage) throws(SocketIOError) -> UndecodedPacket? {
        do throws(SocketIOError) {
            switch message {
            case .text(let text): return try self.receivedText(text)
            case .binary(let bytes): return try self.receivedAttachment(bytes)
            }
        } catch {
            self.state = .failed(error)
            throw error
        }
    }

    private mutating func receivedText(_ text: ByteBuffer) throws(SocketIOError) -> UndecodedPacket? {
        switch self.state {
        case .idle: break
        case .collecting(let partial):
            throw SocketIOError(
                .malformedPacket,
                message: "a text message where attachment \(partial.attachments.count + 1) of \(partial.header.attachments) was due")
        case .failed(let error): throw error
        }
        switch try SocketIOPacketText.read(text, version: self.version, limits: self.limits) {
        case .complete(let packet): return packet
        case .announces(let header, let json):
            self.state = .collecting(Partial(header: header, json: json.detached))
            return nil
        }
    }

    private mutating func receivedAttachment(_ bytes: ByteBuffer) throws(SocketIOError) -> UndecodedPacket? {
        guard case .collecting(var partial) = self.state else {
            if case .failed(let error) = self.state { throw error }
            throw SocketIOError(.malformedPacket, message: "a binary message of \(bytes.readableBytes) bytes that no packet announced")
        }
        self.state = .idle  // so that the list of attachments is not copied
        partial.attachments.append(bytes.detached)
        guard partial.isWhole else {
            self.state = .collecting(partial)
            return nil
        }
        return try SocketIOPacketText.packet(
            partial.header, json: partial.json, attachments: partial.attachments, version: self.version, limits: self.limits)
    }
}
