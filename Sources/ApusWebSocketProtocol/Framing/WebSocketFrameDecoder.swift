public import NIOCore

/// Splits bytes into frames and unmasks them.
///
/// An incomplete data frame is delivered in pieces, as if the sender had fragmented it: the first
/// piece as a fragment, the others as continuations. A text is therefore validated as its bytes
/// arrive, no byte is processed twice, and at most 130 bytes (a header or a control frame) are kept
/// between two reads. Limits apply to frames on the wire, not to pieces.
///
/// The decoder enforces the rules of headers (masks, reserved bits, lengths) and
/// ``WebSocketLimits``. ``WebSocketConnectionStateMachine`` enforces the order of frames.
///
/// Source: RFC 6455 section 5.
package struct WebSocketFrameDecoder {
    /// A data frame whose header was decoded, and whose payload is incomplete.
    private struct OpenFrame {
        var isFinal: Bool
        /// The number of payload bytes that have not arrived.
        var missing: Int
        /// The masking key, rotated to the next byte.
        var maskingKey: WebSocketMaskingKey
    }

    private let role: WebSocketRole
    private let maximumFrameBytes: Int
    private let maximumMessageBytes: Int
    private let maximumFragments: Int
    private let allowedReservedBits: WebSocketReservedBits
    private var openFrame: OpenFrame?
    /// The number of payload bytes announced for the current message. It is counted here so that
    /// each header is checked against the limit of the whole message.
    private var messageBytes = 0
    private var messageFrames = 0
    /// Whether decoding has failed. If `true`, no further bytes are decoded.
    private var hasFailed = false

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - role: The role of this side.
    ///   - limits: The limits of frames and messages.
    ///   - allowedReservedBits: The bits that negotiated extensions use.
    package init(role: WebSocketRole, limits: WebSocketLimits, allowedReservedBits: WebSocketReservedBits = .unset) {
        self.role = role
        self.maximumFrameBytes = limits.maximumFrameBytes
        self.maximumMessageBytes = limits.maximumMessageBytes
        self.maximumFragments = limits.maximumFragments
        self.allowedReservedBits = allowedReservedBits
    }

    /// Decodes `buffer`, except for an incomplete header or control frame at its end.
    ///
    /// - Parameters:
    ///   - buffer: The bytes that were read.
    ///   - space: The storage for decoding, whose batch contains the frames when the method
    ///     returns.
    ///   - maximumFrames: The maximum number of frames. If it is reached, `buffer` may contain more
    ///     frames.
    /// - Returns: The error of the bytes after the last frame. It is final, and `buffer` is then
    ///   cleared.
    package mutating func decode(
        _ buffer: inout ByteBuffer, using space: inout DecodeScratch, maximumFrames: Int = .max
    ) -> WebSocketError? {
        guard !self.hasFailed else {
            buffer.clear()
            return nil
        }
        var consumed = 0
        let failure = buffer.withUnsafeReadableBytes { self.scan($0, into: &space, maximumFrames, consumed: &consumed) }
        switch self.role {
        case .server: space.unmask(buffer)
        case .client: space.cut(buffer)
        }
        if let failure {
            self.hasFailed = true
            buffer.clear()
            return failure
        }
        buffer.moveReaderIndex(forwardBy: consumed)
        return nil
    }

    /// Finds the frames in `bytes`.
    private mutating func scan(
        _ bytes: UnsafeRawBufferPointer, into space: inout DecodeScratch, _ maximumFrames: Int, consumed: inout Int
    ) -> WebSocketError? {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return nil }
        if let open = self.openFrame.take() {
            self.take(min(open.missing, bytes.count), of: open, opcode: .continuation, reserved: .unset, into: &space, consumed: &consumed)
        }
        do throws(WebSocketError) {
            while space.batch.places.count < maximumFrames,
                let header = try self.nextHeader(UnsafeRawBufferPointer(start: start + consumed, count: bytes.count &- consumed))
            {
                let available = bytes.count &- consumed &- header.headerLength
                // A control frame is never delivered in pieces, so wait for the whole frame.
                guard available >= header.payloadLength || !header.opcode.isControl else { return nil }
                if !header.opcode.isControl {
                    self.messageBytes = header.isFinal ? 0 : self.messageBytes + header.payloadLength
                    self.messageFrames = header.isFinal ? 0 : self.messageFrames + 1
                }
                consumed &+= header.headerLength
                let frame = OpenFrame(
                    isFinal: header.isFinal, missing: header.payloadLength, maskingKey: header.maskingKey ?? .zero)
                self.take(
                    min(available, header.payloadLength), of: frame, opcode: header.opcode, reserved: header.reserved, into: &space,
                    consumed: &consumed)
            }
            return nil
        } catch {
            return error
        }
    }

    /// Records the next `length` bytes as payload of `frame`.
    private mutating func take(
        _ length: Int, of frame: OpenFrame, opcode: WebSocketOpcode, reserved: WebSocketReservedBits,
        into space: inout DecodeScratch, consumed: inout Int
    ) {
        let isWhole = length == frame.missing
        space.payloadBytes &+= length
        space.batch.places.append(
            .init(
                isFinal: frame.isFinal && isWhole, reserved: reserved, opcode: opcode, maskingKey: frame.maskingKey, start: consumed,
                length: length, missing: frame.missing - length))
        consumed &+= length
        guard !isWhole else { return }
        self.openFrame = OpenFrame(
            isFinal: frame.isFinal, missing: frame.missing - length, maskingKey: frame.maskingKey.turned(by: length))
    }

    /// Returns the next header if it is complete. Checks the announced size even if the masking key
    /// is missing.
    @inline(__always)
    private func nextHeader(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) -> WebSocketFrameHeader? {
        guard self.openFrame == nil,
            let header = try WebSocketFrameHeader.parse(bytes, role: self.role, allowedReservedBits: self.allowedReservedBits)
        else { return nil }
        if !header.opcode.isControl {
            guard header.payloadLength <= self.maximumFrameBytes else {
                throw WebSocketError(
                    .messageTooLarge,
                    message: "a frame has \(header.payloadLength) bytes; the maximum is \(self.maximumFrameBytes) (`maximumFrameBytes`)")
            }
            // The configured limits may be as large as `Int.max`, so check for overflow.
            let (total, overflow) = self.messageBytes.addingReportingOverflow(header.payloadLength)
            guard !overflow, total <= self.maximumMessageBytes else {
                throw WebSocketError(
                    .messageTooLarge,
                    message: "a message has \(total) bytes; the maximum is \(self.maximumMessageBytes) (`maximumMessageBytes`)")
            }
            guard self.messageFrames < self.maximumFragments else {
                throw WebSocketError(
                    .tooManyFragments, message: "a message has more than \(self.maximumFragments) frames (`maximumFragments`)")
            }
        }
        return bytes.count >= header.headerLength ? header : nil
    }
}

extension WebSocketFrameDecoder {
    /// Decodes `buffer` with temporary storage, and appends the frames to `frames`.
    package mutating func decode(_ buffer: inout ByteBuffer, into frames: inout [WebSocketFrame]) -> WebSocketError? {
        var space = DecodeScratch()
        let failure = self.decode(&buffer, using: &space)
        var batch = space.takeBatch()
        while let frame = batch.next() { frames.append(frame) }
        return failure
    }
}

/// The first 2 to 14 bytes of a frame.
///
/// Source: RFC 6455 section 5.2, "Base Framing Protocol".
struct WebSocketFrameHeader: Equatable {
    var isFinal: Bool
    var reserved: WebSocketReservedBits
    var opcode: WebSocketOpcode
    var maskingKey: WebSocketMaskingKey?
    var headerLength: Int
    var payloadLength: Int

    /// Parses a header at the start of `bytes`. Returns `nil` if more bytes are needed.
    ///
    /// Checks the first two bytes before the other bytes arrive.
    @inline(__always)
    static func parse(
        _ bytes: UnsafeRawBufferPointer,
        role: WebSocketRole,
        allowedReservedBits: WebSocketReservedBits
    ) throws(WebSocketError) -> Self? {
        guard bytes.count >= 2 else { return nil }
        let first = bytes[0]
        let second = bytes[1]

        // "MUST be 0 unless an extension is negotiated that defines meanings for non-zero values."
        let reserved = WebSocketReservedBits(rawValue: first & 0x70)
        guard reserved.isSubset(of: allowedReservedBits) else {
            throw WebSocketError(
                .protocolViolation, message: "the reserved bits are \(reserved.rawValue >> 4), but no negotiated extension defines them")
        }
        // RFC 6455 section 5.2: "If an unknown opcode is received, the receiving endpoint MUST
        // _Fail the WebSocket Connection_."
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else {
            throw WebSocketError(.protocolViolation, message: "a frame has the reserved opcode \(first & 0x0F)")
        }
        let isFinal = first & 0x80 != 0
        // RFC 7692 section 6.1: the "Per-Message Compressed" bit is not permitted on fragments
        // after the first one.
        guard opcode != .continuation || reserved.isEmpty else {
            throw WebSocketError(.protocolViolation, message: "reserved bits are set on a continuation frame")
        }
        // RFC 6455 section 5.1: a server must close the connection upon receiving a frame that is
        // not masked, and a client upon receiving a masked frame.
        let isMasked = second & 0x80 != 0
        guard isMasked != role.masks else {
            throw WebSocketError(.protocolViolation, message: isMasked ? "a server's frame is masked" : "a client's frame is not masked")
        }
        let shortLength = second & 0x7F
        // RFC 6455 section 5.5: "All control frames MUST have a payload length of 125 bytes or less
        // and MUST NOT be fragmented."
        if opcode.isControl {
            guard isFinal else { throw WebSocketError(.protocolViolation, message: "a control frame is fragmented") }
            guard shortLength <= 125 else { throw WebSocketError(.protocolViolation, message: "a control frame has more than 125 bytes") }
            guard reserved.isEmpty else { throw WebSocketError(.protocolViolation, message: "reserved bits are set on a control frame") }
        }

        var offset = 2
        let payloadLength: Int
        switch shortLength {
        case 126:
            guard bytes.count >= 4 else { return nil }
            let length = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
            // "the minimal number of bytes MUST be used to encode the length"
            guard length > 125 else {
                throw WebSocketError(.protocolViolation, message: "the payload length \(length) is not encoded in its shortest form")
            }
            payloadLength = Int(length)
            offset = 4
        case 127:
            guard bytes.count >= 10 else { return nil }
            let length = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
            // "the most significant bit MUST be 0": a larger number does not fit an `Int` either
            // (CVE-2026-43678).
            guard let exact = Int(exactly: length) else {
                throw WebSocketError(.protocolViolation, message: "the payload length \(length) exceeds 2^63 - 1")
            }
            guard exact > 0xFFFF else {
                throw WebSocketError(.protocolViolation, message: "the payload length \(exact) is not encoded in its shortest form")
            }
            payloadLength = exact
            offset = 10
        default:
            payloadLength = Int(shortLength)
        }

        var maskingKey: WebSocketMaskingKey?
        if isMasked {
            guard bytes.count >= offset + 4 else {
                // The length is known before the key arrives, so that the caller can check it now.
                return Self(
                    isFinal: isFinal, reserved: reserved, opcode: opcode, maskingKey: nil, headerLength: offset + 4,
                    payloadLength: payloadLength)
            }
            maskingKey = WebSocketMaskingKey(word: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            offset += 4
        }
        return Self(
            isFinal: isFinal, reserved: reserved, opcode: opcode, maskingKey: maskingKey, headerLength: offset, payloadLength: payloadLength
        )
    }
}

/// The reusable storage for decoding one read: the positions of the frames and their unmasked
/// payloads.
///
/// All connections of an event loop share it, so that decoding allocates no memory and an idle
/// connection retains no storage.
package struct DecodeScratch {
    /// The maximum capacity to keep, unless all payloads in it are copied. A small message that the
    /// application stores must not retain a large buffer.
    private static let maximumSpareBytes = 8 << 10

    fileprivate var batch = WebSocketFrameBatch()
    private var payloads = ByteBuffer()
    fileprivate var payloadBytes = 0

    /// Creates empty storage.
    package init() {}

    /// Uses slices of the read buffer as payloads. The payloads must not be masked.
    fileprivate mutating func cut(_ buffer: ByteBuffer) {
        self.batch.bytes = buffer
    }

    /// Unmasks the payloads into a separate buffer. Because the channel also references the read
    /// buffer, unmasking in place would copy it.
    fileprivate mutating func unmask(_ buffer: ByteBuffer) {
        guard !self.batch.places.isEmpty else { return }
        let bytes = self.payloadBytes
        let isEnough = self.payloads.modifyIfUniquelyOwned { payloads in
            payloads.clear()
            return payloads.capacity >= bytes
        }
        if isEnough != true { self.payloads = ByteBufferAllocator().buffer(capacity: max(bytes, 256)) }
        buffer.withUnsafeReadableBytes { source in
            _ = self.payloads.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes) { target in
                var offset = 0
                for index in self.batch.places.indices {
                    let place = self.batch.places[index]
                    self.batch.places[index].isASCII = place.maskingKey.copy(
                        UnsafeRawBufferPointer(rebasing: source[place.start..<place.start &+ place.length]),
                        to: UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset &+ place.length]))
                    self.batch.places[index].start = offset
                    offset &+= place.length
                }
                return offset
            }
        }
        self.batch.bytes = self.payloads
        if self.payloads.capacity > Self.maximumSpareBytes, !self.batch.places.allSatisfy(\.isPiece) { self.payloads = ByteBuffer() }
    }

    /// Removes and returns the frames. Call this method after each decoding, because handling the
    /// frames may cause another read, which uses this storage.
    package mutating func takeBatch() -> WebSocketFrameBatch {
        var batch = WebSocketFrameBatch()
        swap(&batch, &self.batch)
        self.payloadBytes = 0
        return batch
    }

    /// Returns the storage of handled frames for reuse. The parameter is `inout`, because clearing
    /// a copy would allocate new storage.
    package mutating func giveBack(_ batch: inout WebSocketFrameBatch) {
        batch.clear()
        swap(&batch, &self.batch)
    }
}

/// The frames of one read, created one at a time during a single iteration.
@usableFromInline
package struct WebSocketFrameBatch {
    /// The position of a frame or of a piece of a frame. It contains no references, so that
    /// scanning performs no reference counting.
    @usableFromInline
    struct Place {
        @usableFromInline var isFinal: Bool
        @usableFromInline var reserved: WebSocketReservedBits
        @usableFromInline var opcode: WebSocketOpcode
        /// The masking key; zero for an unmasked payload.
        var maskingKey: WebSocketMaskingKey
        /// The offset of the payload from the first readable byte.
        @usableFromInline var start: Int
        @usableFromInline var length: Int
        /// The number of payload bytes that have not arrived.
        @usableFromInline var missing: Int
        /// Whether the payload is known to be ASCII.
        @usableFromInline var isASCII = false

        /// Whether this is only part of a message. The connection's state machine then copies it.
        var isPiece: Bool { !self.isFinal || self.opcode == .continuation }
    }

    private static let maximumSparePlaces = 256

    @usableFromInline var places: [Place] = []
    /// The buffer that contains the payloads.
    @usableFromInline var bytes = ByteBuffer()
    @usableFromInline var position = 0
    /// Whether the payload of the last frame returned by ``next()`` is known to be ASCII.
    @usableFromInline package var isASCII = false

    /// Creates an empty batch.
    init() {}

    /// The number of frames, including those already returned.
    package var count: Int { self.places.count }

    /// Whether all frames were returned.
    package var isAtEnd: Bool { self.position >= self.places.count }

    /// The size of ``bytes``, in bytes.
    package var byteCount: Int { self.bytes.readableBytes }

    /// Returns the next frame, or `nil` after the last.
    @inlinable
    package mutating func next() -> WebSocketFrame? {
        guard self.position < self.places.count else { return nil }
        let place = self.places[self.position]
        self.position &+= 1
        self.isASCII = place.isASCII
        let payload = self.bytes.getSlice(at: self.bytes.readerIndex &+ place.start, length: place.length) ?? ByteBuffer()
        return WebSocketFrame(
            isFinal: place.isFinal, reserved: place.reserved, opcode: place.opcode, payload: payload, missing: place.missing)
    }

    /// Removes all frames and keeps the storage of their positions.
    mutating func clear() {
        self.places.removeAll(keepingCapacity: self.places.capacity <= Self.maximumSparePlaces)
        self.bytes = ByteBuffer()
        self.position = 0
    }
}
