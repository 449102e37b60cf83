import ApusBytes
package import ApusEngineIOProtocol
import ApusJSON
import NIOCore

/// Decodes packets from Engine.IO messages: a text message, then the binary messages that it
/// announces.
///
/// Source: Socket.IO protocol v5, "Packet encoding" and "Sample session". Every error is final: the
/// connection closes with "parse error".
package struct SocketIOJSONDecoder: Sendable {
    /// A packet that awaits attachments. Its values are created after the last one, so that it uses
    /// no more memory than the received bytes.
    private struct Partial {
        var header: SocketIOPacketHeader
        /// The JSON of the packet, already validated.
        var json: ByteBuffer
        var attachments: [ByteBuffer] = []

        var isWhole: Bool { self.attachments.count >= self.header.attachments }
    }

    /// The large cases are indirect, because every connection has a decoder and most receive no
    /// attachments.
    private enum State {
        /// The next message is a text. Transitions to `collecting` or `failed`.
        case idle
        /// The next message is an attachment. Transitions to `idle` after the last one, or to
        /// `failed`.
        indirect case collecting(Partial)
        /// Every later message fails with this error. Final.
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

    /// Decodes the next message. Returns the packet that the message completes, or `nil` if
    /// attachments must follow.
    ///
    /// - Throws: ``SocketIOError/Code/malformedPacket``, ``SocketIOError/Code/invalidPayload`` or
    ///   ``SocketIOError/Code/tooManyAttachments``. Every later message throws the same error.
    package mutating func received(_ message: EngineIOMessage) throws(SocketIOError) -> SocketIOPacket? {
        do throws(SocketIOError) {
            switch message {
            case .text(let text):
                guard case .idle = self.state else { throw self.errorOfUnexpectedText }
                return try self.receivedText(text)
            case .binary(let bytes): return try self.receivedAttachment(bytes)
            }
        } catch {
            self.state = .failed(error)
            throw error
        }
    }

    /// The error of a text message that arrives in place of an attachment or after an error.
    private var errorOfUnexpectedText: SocketIOError {
        switch self.state {
        case .failed(let error): error
        case .collecting(let partial):
            SocketIOError(
                .malformedPacket,
                message: "a text message arrived instead of attachment \(partial.attachments.count + 1) of \(partial.header.attachments)")
        case .idle: SocketIOError(.malformedPacket, message: "a text message arrived where no packet can begin")
        }
    }

    private mutating func receivedAttachment(_ bytes: ByteBuffer) throws(SocketIOError) -> SocketIOPacket? {
        guard case .collecting(var partial) = self.state else {
            if case .failed(let error) = self.state { throw error }
            throw SocketIOError(
                .malformedPacket, message: "a binary message of \(bytes.readableBytes) bytes arrived that no packet announced")
        }
        self.state = .idle  // avoids a copy of the attachments
        partial.attachments.append(bytes.detached)
        guard partial.isWhole else {
            self.state = .collecting(partial)
            return nil
        }
        let payload: SocketIOValue
        do throws(JSONError) { payload = try JSONReader.read(partial.json.readableBytesView, limits: self.limits.json) } catch {
            throw Self.malformed(error)
        }
        return try self.packet(partial.header, payload, attachments: partial.attachments)
    }
}

// MARK: Text

extension SocketIOJSONDecoder {
    /// Validates a text message, without copying it. Returns the packet, with its arguments not
    /// decoded. Returns `nil` if attachments follow; the packet is decoded after the last one.
    private mutating func receivedText(_ text: ByteBuffer) throws(SocketIOError) -> SocketIOPacket? {
        let result = text.withUnsafeReadableBytes { bytes -> Result<SocketIOPacket?, SocketIOError> in
            do throws(SocketIOError) {
                let header = try SocketIOPacketHeader(bytes, limits: self.limits)
                let json = UnsafeRawBufferPointer(rebasing: bytes[header.length...])
                switch header.type {
                case .event where !json.isEmpty:
                    let (name, arguments) = try self.event(json, of: text, at: header.length)
                    return .success(
                        SocketIOPacket(
                            namespace: header.namespace, content: .event(name: name, arguments: arguments, ackID: header.ackID)))
                case .ack where !json.isEmpty:
                    guard let id = header.ackID, let arguments = try self.arguments(json, of: text, at: header.length) else {
                        throw SocketIOPacket.Content.wrongAck
                    }
                    return .success(SocketIOPacket(namespace: header.namespace, content: .ack(id: id, arguments: arguments)))
                case .binaryEvent where header.attachments > 0 && !json.isEmpty:
                    _ = try self.event(json, of: text, at: header.length)
                    self.state = .collecting(Partial(header: header, json: Self.json(text, behind: header).detached))
                    return .success(nil)
                case .binaryAck where header.attachments > 0 && !json.isEmpty:
                    guard header.ackID != nil, try self.arguments(json, of: text, at: header.length) != nil else {
                        throw SocketIOPacket.Content.wrongAck
                    }
                    self.state = .collecting(Partial(header: header, json: Self.json(text, behind: header).detached))
                    return .success(nil)
                case .event, .ack, .connect, .disconnect, .connectError, .binaryEvent, .binaryAck:
                    if header.type == .connect { try self.limits.checkConnect(bytes: json.count) }
                    // `50-["a"]` announces no attachments and is complete. (Node's socket.io-parser
                    // waits for one, and fails on the next packet.)
                    let payload: SocketIOValue? = if json.isEmpty { .none } else { try self.value(json) }
                    return .success(try self.packet(header, payload, attachments: []))
                }
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func json(_ text: ByteBuffer, behind header: SocketIOPacketHeader) -> ByteBuffer {
        text.getSlice(at: text.readerIndex + header.length, length: text.readableBytes - header.length) ?? ByteBuffer()
    }

    private func value(_ json: UnsafeRawBufferPointer) throws(SocketIOError) -> SocketIOValue {
        do throws(JSONError) { return try JSONReader.read(json, limits: self.limits.json) } catch { throw Self.malformed(error) }
    }

    private static func malformed(_ error: JSONError) -> SocketIOError {
        SocketIOError(.malformedPacket, message: "a payload is not valid JSON", cause: error)
    }

    // MARK: Arguments kept as text

    private func outline(of json: UnsafeRawBufferPointer) throws(SocketIOError) -> JSONArrayOutline.Finding {
        do throws(JSONError) {
            return try JSONArrayOutline.find(in: json, limits: self.limits.json)
        } catch {
            throw Self.malformed(error)
        }
    }

    private static func slice(_ text: ByteBuffer, _ range: Range<Int>, at offset: Int) -> SocketIOPayload {
        guard !range.isEmpty, let slice = text.getSlice(at: text.readerIndex + offset + range.lowerBound, length: range.count) else {
            return []
        }
        return SocketIOPayload(checked: slice)
    }

    private func event(
        _ json: UnsafeRawBufferPointer, of text: ByteBuffer, at offset: Int
    ) throws(SocketIOError) -> (name: String, arguments: SocketIOPayload) {
        guard case .array(let outline) = try self.outline(of: json), let name = self.name(json, outline) else {
            throw SocketIOPacket.Content.wrongEvent
        }
        try SocketIOPacket.checkReceived(name: name)
        return (name, Self.slice(text, outline.rest, at: offset))
    }

    /// Returns the name of an event. A short name without escapes needs no allocation.
    private func name(_ json: UnsafeRawBufferPointer, _ outline: JSONArrayOutline) -> String? {
        let first = outline.first
        guard outline.firstIsPlain else {
            let value = try? JSONReader.read(UnsafeRawBufferPointer(rebasing: json[first]), limits: self.limits.json)
            return value.flatMap { SocketIOPacket.Content.eventName($0) }
        }
        return String(decoding: UnsafeRawBufferPointer(rebasing: json[first.lowerBound + 1..<first.upperBound - 1]), as: UTF8.self)
    }

    /// Returns the arguments; `nil` if the JSON is not an array.
    private func arguments(
        _ json: UnsafeRawBufferPointer, of text: ByteBuffer, at offset: Int
    ) throws(SocketIOError) -> SocketIOPayload? {
        switch try self.outline(of: json) {
        case .array(let outline): Self.slice(text, outline.all, at: offset)
        case .emptyArray: []
        case .other: nil
        }
    }

    // MARK: Values

    /// Returns the packet with its attachments in place.
    private func packet(
        _ header: SocketIOPacketHeader, _ payload: SocketIOValue?, attachments: [ByteBuffer]
    ) throws(SocketIOError) -> SocketIOPacket {
        var content = try SocketIOPacket.Content(header.type, payload: payload, ackID: header.ackID, version: self.version)
        // Only a binary packet has placeholders. In other packets, an object that looks like a
        // placeholder is plain data, as in Node's socket.io-parser.
        if header.type.carriesAttachments {
            switch content {
            case .event(let name, let arguments, let ackID):
                content = .event(name: name, arguments: SocketIOPayload(try Self.fill(arguments.arguments, attachments)), ackID: ackID)
            case .ack(let id, let arguments):
                content = .ack(id: id, arguments: SocketIOPayload(try Self.fill(arguments.arguments, attachments)))
            case .connect, .disconnect, .connectError: break
            }
        }
        return SocketIOPacket(namespace: header.namespace, content: content)
    }

    private static func fill(_ arguments: [SocketIOValue], _ attachments: [ByteBuffer]) throws(SocketIOError) -> [SocketIOValue] {
        var attachments: [ByteBuffer?] = attachments
        var filled: [SocketIOValue] = []
        filled.reserveCapacity(arguments.count)
        for argument in arguments { filled.append(try SocketIOPlaceholders.fill(argument, from: &attachments)) }
        return filled
    }
}

/// The part of a packet before its JSON.
///
/// Source: Socket.IO protocol v5, "Packet encoding":
/// `<type>[<attachments>-][<namespace>,][<ack id>][JSON]`.
struct SocketIOPacketHeader: Equatable {
    var type: SocketIOPacketType
    var attachments = 0
    var namespace = "/"
    var ackID: Int?
    /// The length of the header, where the JSON starts.
    var length = 0

    /// Parses the header at the start of a packet.
    init(_ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits) throws(SocketIOError) {
        guard let first = bytes.first, let type = SocketIOPacketType(rawValue: first) else {
            throw SocketIOError(
                .malformedPacket, message: bytes.isEmpty ? "a packet is empty" : "a packet has the unknown type byte \(bytes[0])")
        }
        self.type = type
        self.length = 1
        if type.carriesAttachments { try self.readAttachments(bytes, limits: limits) }
        if self.length < bytes.count, bytes[self.length] == UInt8(ascii: "/") { try self.readNamespace(bytes, limits: limits) }
        if type != .connect, type != .disconnect, type != .connectError { self.ackID = try Self.readDigits(bytes, &self.length) }
    }

    private mutating func readAttachments(_ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits) throws(SocketIOError) {
        guard let count = try Self.readDigits(bytes, &self.length), self.length < bytes.count, bytes[self.length] == UInt8(ascii: "-")
        else {
            throw SocketIOError(.malformedPacket, message: "a binary packet has no number of attachments")
        }
        guard count <= limits.maximumAttachments else {
            throw SocketIOError(
                .tooManyAttachments,
                message: "a packet announces \(count) attachments; the maximum is \(limits.maximumAttachments) (`maximumAttachments`)")
        }
        self.attachments = count
        self.length += 1
    }

    private mutating func readNamespace(_ bytes: UnsafeRawBufferPointer, limits: SocketIOLimits) throws(SocketIOError) {
        let rest = bytes[self.length...]
        let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
        let name = rest[..<end]
        guard name.count <= limits.maximumNamespaceBytes else {
            throw SocketIOError(
                .malformedPacket,
                message: "a namespace has \(name.count) bytes; the maximum is \(limits.maximumNamespaceBytes) (`maximumNamespaceBytes`)")
        }
        guard let namespace = String(utf8: UnsafeRawBufferPointer(rebasing: name)) else {
            throw SocketIOError(.malformedPacket, message: "a namespace is not UTF-8")
        }
        self.namespace = namespace
        self.length = end == rest.endIndex ? end : end + 1
    }

    /// Reads the number at `position`. Returns `nil` if there is no digit.
    private static func readDigits(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) throws(SocketIOError) -> Int? {
        var number: Int?
        while position < bytes.count, case let digit = bytes[position] &- 0x30, digit < 10 {
            let (product, overflowed) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, overflowedAgain) = product.addingReportingOverflow(Int(digit))
            guard !overflowed, !overflowedAgain else {
                throw SocketIOError(.malformedPacket, message: "a number in a packet header exceeds 63 bits")
            }
            number = sum
            position += 1
        }
        return number
    }
}
