package import NIOCore

/// Cuts bytes into frames of version 2. Knows the rules of a single frame; their order is the session's business.
///
/// Once it has thrown it throws the same error for ever.
package struct FrameDecoder: NIOSingleStepByteToMessageDecoder, Sendable {
    package typealias InboundOut = FramePart<FrameHead>

    private enum State {
        /// Between two frames, or within the first sixteen bytes. Leaves to `header`, `body` or `failed`.
        case start
        /// The JSON has not come whole. Leaves to `body` or `failed`.
        case header(FrameHead, length: Int)
        /// The head was handed on. Leaves to `start` when all has come.
        case body(FrameRemainder)
        /// Final.
        case failed(FramedError)
    }

    private let limits: FramedLimits
    private var state = State.start

    package init(limits: FramedLimits = .init()) {
        self.limits = limits
    }

    /// Whether a frame has begun of which the head has not come whole: a deadline runs while that is so.
    package func isWithinHead(_ buffer: ByteBuffer) -> Bool {
        switch self.state {
        case .start: buffer.readableBytes > 0
        case .header: true
        case .body, .failed: false
        }
    }

    /// Whether a frame has begun and not ended.
    package func isWithinFrame(_ buffer: ByteBuffer) -> Bool {
        if case .start = self.state { buffer.readableBytes > 0 } else { true }
    }

    /// The next part; `nil` when more bytes are needed for it. What is kept in `buffer` meanwhile is at most a head.
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
            let head = try self.judge(start)
            guard start.headerLength > 0 else { return self.begin(head) }
            self.state = .header(head, length: Int(start.headerLength))
            return try self.next(&buffer)  // once: the state is another one
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

    private func judge(_ start: FrameStart) throws(FramedError) -> FrameHead {
        guard start.flags.isSubset(of: .all) else {
            throw FramedError(.protocolViolation, message: "reserved flags \(start.flags.rawValue) of \(start.type)")
        }
        guard start.headerLength <= UInt32(self.limits.maximumHeaderBytes) else {
            throw FramedError(
                .headerTooLarge, message: "a header of \(start.headerLength) bytes announced, \(self.limits.maximumHeaderBytes) allowed")
        }
        guard let bodyLength = Int(exactly: start.bodyLength), bodyLength <= self.limits.maximumBodyBytes else {
            throw FramedError(
                .frameTooLarge, message: "a body of \(start.bodyLength) bytes announced, \(self.limits.maximumBodyBytes) allowed")
        }
        guard bodyLength == 0 || start.type.mayHaveBody else {
            throw FramedError(.protocolViolation, message: "\(start.type) with a body of \(bodyLength) bytes")
        }
        return FrameHead(start.type, flags: start.flags, stream: start.stream, bodyLength: bodyLength)
    }

    /// As ``decode(buffer:)``, when no more bytes will come: it throws ``FramedError/Code/truncated`` when they end within a frame.
    package mutating func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws(FramedError) -> InboundOut? {
        if let part = try self.decode(buffer: &buffer) { return part }
        guard !seenEOF || !self.isWithinFrame(buffer) else {
            throw FramedError(.truncated, message: "the bytes end within a frame")
        }
        return nil
    }
}
