package import NIOCore

/// Decodes frames of version 2. It checks each frame separately; ``FramedSession`` checks their
/// order.
///
/// After an error, every call throws the same error.
package struct FrameDecoder: NIOSingleStepByteToMessageDecoder, Sendable {
    package typealias InboundOut = FramePart<FrameHead>

    private enum State {
        /// Between two frames, or within the first sixteen bytes. Transitions to `header`, `body`
        /// or `failed`.
        case start
        /// The JSON is incomplete. Transitions to `body` or `failed`.
        case header(FrameHead, length: Int)
        /// The head was returned. Transitions to `start` at the end of the body.
        case body(FrameRemainder)
        /// Final.
        case failed(FramedError)
    }

    private let limits: FramedLimits
    private var state = State.start

    package init(limits: FramedLimits = .init()) {
        self.limits = limits
    }

    /// Returns whether a frame has begun and its head is incomplete. A deadline applies in this
    /// state.
    package func isWithinHead(_ buffer: ByteBuffer) -> Bool {
        switch self.state {
        case .start: buffer.readableBytes > 0
        case .header: true
        case .body, .failed: false
        }
    }

    /// Returns whether a frame has begun and not ended.
    package func isWithinFrame(_ buffer: ByteBuffer) -> Bool {
        if case .start = self.state { buffer.readableBytes > 0 } else { true }
    }

    /// Returns the next part, or `nil` when more bytes are needed. `buffer` then contains at most
    /// one incomplete head.
    package mutating func decode(buffer: inout ByteBuffer) throws(FramedError) -> InboundOut? {
        do throws(FramedError) {
            return try self.next(&buffer)
        } catch {
            self.state = .failed(error)
            throw error
        }
    }

    private mutating func next(_ buffer: inout ByteBuffer) throws(FramedError) -> InboundOut? {
        switch self.state {
        case .start:
            guard let start = FrameStart(&buffer) else { return nil }
            let head = try self.validated(start)
            guard start.headerLength > 0 else { return self.begin(head) }
            self.state = .header(head, length: Int(start.headerLength))
            return try self.next(&buffer)
        case .header(var head, let length):
            guard let text = buffer.readSlice(length: length) else { return nil }
            head.header = try FrameHeaderText.read(text, maximumDepth: self.limits.maximumHeaderDepth)
            return self.begin(head)
        case .body(var remainder):
            switch remainder.next(&buffer) {
            case .piece(let bytes):
                self.state = .body(remainder)
                return .body(bytes)
            case .end:
                self.state = .start
                return .end
            case .needsMore:
                return nil
            }
        case .failed(let error):
            throw error
        }
    }

    private mutating func begin(_ head: FrameHead) -> InboundOut {
        self.state = .body(FrameRemainder(bodyLength: head.bodyLength))
        return .head(head)
    }

    private func validated(_ start: FrameStart) throws(FramedError) -> FrameHead {
        guard start.flags.isSubset(of: .all) else {
            throw FramedError(.protocolViolation, message: "the frame \(start.type) has the reserved flags \(start.flags.rawValue)")
        }
        guard start.headerLength <= UInt32(self.limits.maximumHeaderBytes) else {
            throw FramedError(
                .headerTooLarge,
                message:
                    "the header has \(start.headerLength) bytes; the maximum is \(self.limits.maximumHeaderBytes) (`maximumHeaderBytes`)")
        }
        guard let bodyLength = Int(exactly: start.bodyLength), bodyLength <= self.limits.maximumBodyBytes else {
            throw FramedError(
                .frameTooLarge,
                message: "the body has \(start.bodyLength) bytes; the maximum is \(self.limits.maximumBodyBytes) (`maximumBodyBytes`)")
        }
        guard bodyLength == 0 || start.type.mayHaveBody else {
            throw FramedError(.protocolViolation, message: "the frame \(start.type) must have no body, but has one of \(bodyLength) bytes")
        }
        return FrameHead(start.type, flags: start.flags, stream: start.stream, bodyLength: bodyLength)
    }

    /// Returns the next part after the last bytes have arrived; `nil` if no complete part remains.
    ///
    /// - Parameters:
    ///   - buffer: The remaining bytes.
    ///   - seenEOF: Whether the stream has ended. With `false`, incomplete bytes are not an error.
    /// - Throws: ``FramedError/Code/truncated`` when the bytes end within a frame, and the errors
    ///   of ``decode(buffer:)``.
    package mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws(FramedError) -> InboundOut? {
        if let part = try self.decode(buffer: &buffer) { return part }
        guard !seenEOF || !self.isWithinFrame(buffer) else {
            throw FramedError(.truncated, message: "the stream ended within a frame")
        }
        return nil
    }
}
