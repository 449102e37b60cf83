package import ApusEngineIOProtocol
import ApusJSON
import NIOCore

/// Puts packets together from Engine.IO messages: a text, then as many binary messages as it announced.
///
/// Source: Socket.IO protocol v5, "Packet encoding" and "Sample session". Every error is final: the connection closes with "parse error".
package struct SocketIOJSONDecoder: Sendable {
    /// A packet that waits for its attachments.
    private struct Partial {
        var header: SocketIOPacketHeader
        var payload: SocketIOValue
        var attachments: [ByteBuffer] = []

        var isWhole: Bool { self.attachments.count == self.header.attachments }
    }

    private enum State {
        /// The next message is a text, or, while a packet is `partial`, one of its attachments. Leaves to `failed`.
        case open
        /// Final. Whatever comes gets the same error again.
        indirect case failed(SocketIOError)
    }

    let version: SocketIOVersion
    let limits: SocketIOLimits
    private var state = State.open
    /// One packet or none. An array, so that a connection that gets no attachments keeps no room for one.
    private var partial: [Partial] = []

    package init(version: SocketIOVersion = .v5, limits: SocketIOLimits = SocketIOLimits()) {
        self.version = version
        self.limits = limits
    }

    /// Takes the next message; answers the packet it completes, nil while attachments are outstanding.
    ///
    /// - Throws: ``SocketIOError/Code/malformedPacket``, ``SocketIOError/Code/invalidPayload`` or ``SocketIOError/Code/tooManyAttachments``, and the
    ///   same error for every message after it.
    package mutating func received(_ message: EngineIOMessage) throws(SocketIOError) -> SocketIOParcel? {
        do throws(SocketIOError) {
            switch message {
            case .text(let text): return try self.receivedText(text)
            case .binary(let bytes): return try self.receivedAttachment(bytes)
            }
        } catch {
            self.state = .failed(error)
            self.partial = []
            throw error
        }
    }

    private mutating func receivedText(_ text: ByteBuffer) throws(SocketIOError) -> SocketIOParcel? {
        if case .failed(let error) = self.state { throw error }
        guard self.partial.isEmpty else { throw self.unexpectedText }
        switch try SocketIOPacketText.read(text, version: self.version, limits: self.limits) {
        case .complete(let packet): return packet
        case .announces(let header, let payload):
            self.partial.append(Partial(header: header, payload: payload))
            return nil
        }
    }

    private var unexpectedText: SocketIOError {
        let (came, announced) = self.partial.first.map { ($0.attachments.count, $0.header.attachments) } ?? (0, 0)
        return SocketIOError(.malformedPacket, message: "a text message where attachment \(came + 1) of \(announced) was due")
    }

    private mutating func receivedAttachment(_ bytes: ByteBuffer) throws(SocketIOError) -> SocketIOParcel? {
        if case .failed(let error) = self.state { throw error }
        guard !self.partial.isEmpty else {
            throw SocketIOError(.malformedPacket, message: "a binary message of \(bytes.readableBytes) bytes that no packet announced")
        }
        self.partial[0].attachments.append(bytes)
        guard self.partial[0].isWhole else { return nil }
        defer { self.partial.removeAll(keepingCapacity: true) }
        let partial = self.partial[0]
        return try SocketIOPacketText.packet(partial.header, partial.payload, attachments: partial.attachments, version: self.version)
    }
}
