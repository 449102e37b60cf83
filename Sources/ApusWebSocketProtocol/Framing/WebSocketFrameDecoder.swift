package import NIOCore

/// Splits bytes into frames and unmasks them.
///
/// An incomplete data frame is delivered in pieces, as if the sender had fragmented it: the first
/// piece as a fragment, the others as continuations. A text is therefore validated as its bytes
/// arrive, no byte is processed twice, and at most 130 bytes (a header or a control frame) are kept
/// between two reads. Limits apply to frames on the wire, not to pieces.
///
/// Enforces the rules of headers (masks, reserved bits, lengths) and ``WebSocketLimits``.
/// ``WebSocketConnectionStateMachine`` enforces the order of frames.
///
/// Source: RFC 6455 5.
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
    /// The bytes and frames of the current message, counted here so that a header is checked
    /// against the whole message.
    private var messageBytes = 0
    private var messageFrames = 0
    /// Whether decoding has failed. No further bytes are decoded.
    private var hasFailed = false

    /// - Parameters:
    ///   - role: The role of this side.
    ///   - limits: The limits of frames and messages.
    ///   - allowedReservedBits: The bits used by negotiated extensions.
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
    ///   - space: The storage for decoding. Afterwards its batch contains the frames.
    ///   - maximumFrames: The maximum number of frames. If it is reached, more may be left in
    ///     `buffer`.
    /// - Returns: The error of the bytes after the last frame. It is final, and `buffer` is then
    ///   cleared.
    package mutating func decode(
        _ buffer: inout ByteBuffer, using space: inout DecodeScratch, maximumFrames: Int = .max
    ) -> WebSocketError? {
        space.begin()
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
            while space.frameCount < maximumFrames,
                let header = try self.nextHeader(UnsafeRawBufferPointer(start: start + consumed, count: bytes.count &- consumed))
            {
                let available = bytes.count &- consumed &- header.headerLength
                // A control frame is never delivered in pieces: wait for the whole frame.
                guard available >= header.payloadLength || !header.opcode.isControl else { return nil }
                self.count(header)
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
        space.found(
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
                    message: "a frame of \(header.payloadLength) bytes exceeds the limit of \(self.maximumFrameBytes) bytes")
            }
            // Limits are the caller's, up to `Int.max`: check for overflow.
            let (total, overflow) = self.messageBytes.addingReportingOverflow(header.payloadLength)
            guard !overflow, total <= self.maximumMessageBytes else {
                throw WebSocketError(
                    .messageTooLarge, message: "a message of \(total) bytes exceeds the limit of \(self.maximumMessageBytes) bytes")
            }
            guard self.messageFrames < self.maximumFragments else {
                throw WebSocketError(.tooManyFragments, message: "a message has more than \(self.maximumFragments) frames")
            }
        }
        return bytes.count >= header.headerLength ? header : nil
    }

    private mutating func count(_ header: WebSocketFrameHeader) {
        guard !header.opcode.isControl else { return }
        if header.isFinal {
            self.messageBytes = 0
            self.messageFrames = 0
        } else {
            self.messageBytes += header.payloadLength
            self.messageFrames += 1
        }
    }
}

extension WebSocketFrameDecoder {
    /// Decodes `buffer` with temporary storage, and appends to `frames`.
    package mutating func decode(_ buffer: inout ByteBuffer, into frames: inout [WebSocketFrame]) -> WebSocketError? {
        var space = DecodeScratch()
        let failure = self.decode(&buffer, using: &space)
        var batch = space.takeBatch()
        while let frame = batch.next() { frames.append(frame) }
        return failure
    }
}
