package import NIOCore

/// Cuts bytes into frames and unmasks them.
///
/// A data frame that has not come whole is handed on in pieces, as if its sender had cut it there: the part that has come as a
/// fragment, what comes later as continuations. So a text is checked as its bytes arrive, no byte is looked at twice however small
/// the pieces are, and what is kept between two reads is a header or a control frame, 130 bytes at most. Limits count the frames
/// of the wire.
///
/// Knows the header's rules (masks, reserved bits, lengths) and ``WebSocketLimits``; the order of frames is the
/// business of ``WebSocketConnectionStateMachine``.
///
/// Source: RFC 6455 5.
package struct WebSocketFrameDecoder {
    /// A data frame of which the header and perhaps a part of the payload was handed on.
    private struct OpenFrame {
        var isFinal: Bool
        /// Payload bytes that have not come.
        var missing: Int
        /// Turned so that it fits the next byte.
        var maskingKey: WebSocketMaskingKey
    }

    private let role: WebSocketRole
    private let maximumFrameBytes: Int
    private let maximumMessageBytes: Int
    private let maximumFragments: Int
    private let allowedReservedBits: WebSocketReservedBits
    private var openFrame: OpenFrame?
    /// Bytes and frames of the message that is being received. Counted here, so that a header is judged by the whole message.
    private var messageBytes = 0
    private var messageFrames = 0
    /// A decoder that failed once reads nothing more.
    private var hasFailed = false

    /// - Parameters:
    ///   - role: Our side; the peer is the other.
    ///   - limits: The bounds of frames and messages.
    ///   - allowedReservedBits: What agreed extensions use; none without one.
    package init(role: WebSocketRole, limits: WebSocketLimits, allowedReservedBits: WebSocketReservedBits = .unset) {
        self.role = role
        self.maximumFrameBytes = limits.maximumFrameBytes
        self.maximumMessageBytes = limits.maximumMessageBytes
        self.maximumFragments = limits.maximumFragments
        self.allowedReservedBits = allowedReservedBits
    }

    /// Takes everything out of `buffer`, in order, but for an incomplete header or control frame at its end.
    ///
    /// - Parameters:
    ///   - buffer: What was read.
    ///   - space: What is needed for it. Afterwards its batch holds the frames that were found.
    ///   - maximumFrames: The most frames to take. When the batch is full, more may be left in `buffer`.
    /// - Returns: What is wrong with the bytes after the last frame; final, and `buffer` is then emptied.
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

    /// Finds the frames.
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
                // A control frame stands between fragments and is itself never in pieces.
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

    /// The next `length` bytes belong to `frame`.
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

    /// The header of the next frame when it is whole. Judges the announced size in any case.
    @inline(__always)
    private func nextHeader(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) -> WebSocketFrameHeader? {
        guard self.openFrame == nil,
            let header = try WebSocketFrameHeader.parse(bytes, role: self.role, allowedReservedBits: self.allowedReservedBits)
        else { return nil }
        if !header.opcode.isControl {
            guard header.payloadLength <= self.maximumFrameBytes else {
                throw WebSocketError(
                    .messageTooLarge,
                    message: "a frame of \(header.payloadLength) bytes announced, \(self.maximumFrameBytes) allowed")
            }
            // Both are at most Int.max / 2 for any sane limit, but the limit is the caller's: ask for overflow.
            let (total, overflow) = self.messageBytes.addingReportingOverflow(header.payloadLength)
            guard !overflow, total <= self.maximumMessageBytes else {
                throw WebSocketError(
                    .messageTooLarge, message: "a message of \(total) bytes announced, \(self.maximumMessageBytes) allowed")
            }
            guard self.messageFrames < self.maximumFragments else {
                throw WebSocketError(.tooManyFragments, message: "a message of more than \(self.maximumFragments) frames")
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
    /// The same in a space of its own, for one call: appends to `frames`.
    package mutating func decode(_ buffer: inout ByteBuffer, into frames: inout [WebSocketFrame]) -> WebSocketError? {
        var space = DecodeScratch()
        let failure = self.decode(&buffer, using: &space)
        var batch = space.takeBatch()
        while let frame = batch.next() { frames.append(frame) }
        return failure
    }
}
