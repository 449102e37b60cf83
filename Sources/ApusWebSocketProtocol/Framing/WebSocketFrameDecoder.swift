package import NIOCore

/// Cuts bytes into frames and unmasks them.
///
/// Knows the header's rules (masks, reserved bits, lengths) and ``WebSocketLimits``; the order of frames is the
/// business of ``WebSocketConnectionStateMachine``.
///
/// Source: RFC 6455 5.
package struct WebSocketFrameDecoder {
    private let role: WebSocketRole
    private let limits: WebSocketLimits
    private let allowedReservedBits: WebSocketReservedBits
    /// Bytes and frames of the message that is being received. Counted here, so that a header is judged by the whole message.
    private var messageBytes = 0
    private var messageFrames = 0
    /// A decoder that failed once reads nothing more.
    private var hasFailed = false

    /// - Parameters:
    ///   - role: Our side; the peer is the other.
    ///   - limits: The bounds of frames and messages.
    ///   - allowedReservedBits: What agreed extensions use; none without one.
    package init(role: WebSocketRole, limits: WebSocketLimits, allowedReservedBits: WebSocketReservedBits = []) {
        self.role = role
        self.limits = limits
        self.allowedReservedBits = allowedReservedBits
    }

    /// Takes every whole frame out of `buffer`, in order, and leaves an incomplete one in it.
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
        var failure: WebSocketError?
        guard buffer.readableBytes >= 2 else { return nil }
        // A peer that sends a large frame in small pieces must not make us touch the payload before it is there.
        let isWhole = buffer.withUnsafeReadableBytes { bytes in
            do throws(WebSocketError) {
                return try self.nextHeader(bytes) != nil
            } catch {
                failure = error
                return false
            }
        }
        if isWhole {
            buffer.withUnsafeMutableReadableBytes { bytes in
                do throws(WebSocketError) {
                    while let header = try self.nextHeader(UnsafeRawBufferPointer(rebasing: bytes[consumed...])) {
                        let payloadStart = consumed + header.headerLength
                        consumed = payloadStart + header.payloadLength
                        header.maskingKey?.apply(to: UnsafeMutableRawBufferPointer(rebasing: bytes[payloadStart..<consumed]))
                        self.count(header)
                        // The payload is cut out below; until then only its place is known.
                        frames.append(WebSocketFrame(isFinal: header.isFinal, reserved: header.reserved, opcode: header.opcode))
                        self.places.append(payloadStart..<consumed)
                    }
                } catch {
                    failure = error
                }
            }
            let start = buffer.readerIndex
            for (index, place) in self.places.enumerated() where !place.isEmpty {
                frames[first + index].payload = buffer.getSlice(at: start + place.lowerBound, length: place.count) ?? ByteBuffer()
            }
            self.places.removeAll(keepingCapacity: true)
        }
        if let failure {
            self.hasFailed = true
            buffer.clear()
            return failure
        }
        buffer.moveReaderIndex(forwardBy: consumed)
        return nil
    }

    /// Where the payloads of one `decode` lie; kept between calls for its storage only.
    private var places: [Range<Int>] = []

    /// The header of the next frame when the frame is whole. Judges the announced size in any case.
    private func nextHeader(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) -> WebSocketFrameHeader? {
        guard let header = try WebSocketFrameHeader.parse(bytes, role: self.role, allowedReservedBits: self.allowedReservedBits) else {
            return nil
        }
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
        guard bytes.count >= header.headerLength, bytes.count - header.headerLength >= header.payloadLength else { return nil }
        return header
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
