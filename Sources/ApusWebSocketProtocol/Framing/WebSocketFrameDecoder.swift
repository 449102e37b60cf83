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
        var maskingKey: WebSocketMaskingKey?
    }

    private let role: WebSocketRole
    private let limits: WebSocketLimits
    private let allowedReservedBits: WebSocketReservedBits
    private var openFrame: OpenFrame?
    /// Bytes and frames of the message that is being received. Counted here, so that a header is judged by the whole message.
    private var messageBytes = 0
    private var messageFrames = 0
    /// A decoder that failed once reads nothing more.
    private var hasFailed = false
    /// Where the payloads of one `decode` lie; kept between calls for its storage only.
    private var places: [Range<Int>] = []

    /// - Parameters:
    ///   - role: Our side; the peer is the other.
    ///   - limits: The bounds of frames and messages.
    ///   - allowedReservedBits: What agreed extensions use; none without one.
    package init(role: WebSocketRole, limits: WebSocketLimits, allowedReservedBits: WebSocketReservedBits = []) {
        self.role = role
        self.limits = limits
        self.allowedReservedBits = allowedReservedBits
    }

    /// Takes everything out of `buffer`, in order, but for an incomplete header or control frame at its end.
    ///
    /// All are unmasked in place first and sliced afterwards: a slice that is held while the next frame is unmasked
    /// would make the buffer copy itself, once a frame.
    ///
    /// - Returns: What is wrong with the bytes after the last frame; final, and `buffer` is then emptied.
    package mutating func decode(_ buffer: inout ByteBuffer, into frames: inout [WebSocketFrame]) -> WebSocketError? {
        guard !self.hasFailed else {
            buffer.clear()
            return nil
        }
        let first = frames.count
        var consumed = 0
        let failure: WebSocketError?
        switch self.role {
        case .server:
            failure = buffer.withUnsafeMutableReadableBytes {
                self.scan(UnsafeRawBufferPointer($0), into: &frames, consumed: &consumed)
            }
        case .client:
            // A server masks nothing, so nothing is written: a buffer that others hold as well is not copied.
            failure = buffer.withUnsafeReadableBytes { self.scan($0, into: &frames, consumed: &consumed) }
        }
        let start = buffer.readerIndex
        for (index, place) in self.places.enumerated() where !place.isEmpty {
            frames[first + index].payload = buffer.getSlice(at: start + place.lowerBound, length: place.count) ?? ByteBuffer()
        }
        self.places.removeAll(keepingCapacity: true)
        if let failure {
            self.hasFailed = true
            buffer.clear()
            return failure
        }
        buffer.moveReaderIndex(forwardBy: consumed)
        return nil
    }

    /// Finds the frames. The payloads are cut out by the caller; until then only their places are known.
    private mutating func scan(
        _ bytes: UnsafeRawBufferPointer, into frames: inout [WebSocketFrame], consumed: inout Int
    ) -> WebSocketError? {
        if let open = self.openFrame.take() {
            guard !bytes.isEmpty else {
                self.openFrame = open
                return nil
            }
            let length = min(open.missing, bytes.count)
            self.take(length, of: open, opcode: .continuation, reserved: [], bytes, into: &frames, consumed: &consumed)
        }
        do throws(WebSocketError) {
            while let header = try self.nextHeader(UnsafeRawBufferPointer(rebasing: bytes[consumed...])) {
                let available = bytes.count - consumed - header.headerLength
                // A control frame stands between fragments and is itself never in pieces.
                guard available >= header.payloadLength || !header.opcode.isControl else { return nil }
                self.count(header)
                consumed += header.headerLength
                let frame = OpenFrame(isFinal: header.isFinal, missing: header.payloadLength, maskingKey: header.maskingKey)
                self.take(
                    min(available, header.payloadLength), of: frame, opcode: header.opcode, reserved: header.reserved, bytes, into: &frames,
                    consumed: &consumed)
            }
            return nil
        } catch {
            return error
        }
    }

    /// The next `length` bytes belong to `frame`.
    private mutating func take(
        _ length: Int, of frame: OpenFrame, opcode: WebSocketOpcode, reserved: WebSocketReservedBits, _ bytes: UnsafeRawBufferPointer,
        into frames: inout [WebSocketFrame], consumed: inout Int
    ) {
        let place = consumed..<consumed + length
        consumed = place.upperBound
        // Only a server's frames have a key, and a server's bytes are ours to change.
        frame.maskingKey?.apply(to: UnsafeMutableRawBufferPointer(mutating: UnsafeRawBufferPointer(rebasing: bytes[place])))
        let isWhole = length == frame.missing
        frames.append(WebSocketFrame(isFinal: frame.isFinal && isWhole, reserved: reserved, opcode: opcode))
        self.places.append(place)
        guard !isWhole else { return }
        self.openFrame = OpenFrame(
            isFinal: frame.isFinal, missing: frame.missing - length, maskingKey: frame.maskingKey?.turned(by: length))
    }

    /// The header of the next frame when it is whole. Judges the announced size in any case.
    private func nextHeader(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) -> WebSocketFrameHeader? {
        guard self.openFrame == nil,
            let header = try WebSocketFrameHeader.parse(bytes, role: self.role, allowedReservedBits: self.allowedReservedBits)
        else { return nil }
        if !header.opcode.isControl {
            guard header.payloadLength <= self.limits.maximumFrameBytes else {
                throw WebSocketError(
                    .messageTooLarge,
                    message: "a frame of \(header.payloadLength) bytes announced, \(self.limits.maximumFrameBytes) allowed")
            }
            // Both are at most Int.max / 2 for any sane limit, but the limit is the caller's: ask for overflow.
            let (total, overflow) = self.messageBytes.addingReportingOverflow(header.payloadLength)
            guard !overflow, total <= self.limits.maximumMessageBytes else {
                throw WebSocketError(
                    .messageTooLarge, message: "a message of \(total) bytes announced, \(self.limits.maximumMessageBytes) allowed")
            }
            guard self.messageFrames < self.limits.maximumFragments else {
                throw WebSocketError(.tooManyFragments, message: "a message of more than \(self.limits.maximumFragments) frames")
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
