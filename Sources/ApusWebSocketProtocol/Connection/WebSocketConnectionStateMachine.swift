import ApusBytes
package import NIOCore

/// Assembles messages from frames and performs the closing handshake.
///
/// `open` transitions to `closeSent` (this side closes) or `finished` (the peer closes or violates
/// the protocol, the transport ends, or this side aborts). `closeSent` transitions to `finished`
/// (the peer's Close frame, invalid bytes, the timer, the end of the transport, or an abort). In
/// `finished`, no event is reported.
///
/// A copy shares the inflater, so a state machine must have one owner.
///
/// Source: RFC 6455 sections 5.4 (fragments), 5.5 (control frames), 7 (closing), 8.1 (UTF-8); RFC
/// 7692 for compressed messages.
@usableFromInline
package struct WebSocketConnectionStateMachine {
    @usableFromInline
    enum State {
        /// Messages are exchanged. Transitions to `closeSent` or `finished`.
        case open
        /// This side has sent a Close frame. Transitions to `finished`.
        case closeSent
        /// Both Close frames were exchanged, or the connection has failed or was aborted. Only the
        /// transport remains open. Final.
        case finished
    }

    /// A message whose last fragment has not arrived.
    private struct PartialMessage {
        var isText: Bool
        var isCompressed: Bool
        var payload: ByteBuffer

        /// The maximum factor by which the buffer grows at a time. A large factor avoids copies of
        /// a large message. It is bounded, because the length in a frame header may be false.
        private static let maximumGrowth = 16

        mutating func append(_ piece: WebSocketFrame) {
            let bytes = piece.payload.readableBytes
            if self.payload.writableBytes < bytes {
                let bound = Self.maximumGrowth * (self.payload.readableBytes + bytes)
                self.payload.reserveCapacity(minimumWritableBytes: bytes + min(piece.missing, bound))
            }
            piece.payload.withUnsafeReadableBytes { source in
                _ = self.payload.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes) { target in
                    WebSocketMaskingKey.zero.copy(source, to: target)
                    return bytes
                }
            }
        }
    }

    private let maximumMessageBytes: Int
    /// The negotiated compression.
    package let deflate: WebSocketDeflateAgreement?
    @usableFromInline
    var state = State.open
    private var partial: PartialMessage?
    private var validator = UTF8StreamValidator()
    /// The decompressor. It is created for the first compressed message, and released after each
    /// message if the peer uses no context takeover.
    private var inflater: WebSocketInflater?
    @usableFromInline
    var outgoing = WebSocketOutgoingMessage()

    /// Creates the state machine of an open connection.
    ///
    /// - Parameters:
    ///   - limits: The limits. The decoder enforces the limits on the wire; this type enforces the
    ///     limit of decompressed messages.
    ///   - deflate: The negotiated compression; `nil` for none. Without compression, a compressed
    ///     message is a protocol violation.
    package init(limits: WebSocketLimits = WebSocketLimits(), deflate: WebSocketDeflateAgreement? = nil) {
        self.maximumMessageBytes = limits.maximumMessageBytes
        self.deflate = deflate
    }

    /// Whether this side may send frames.
    @inlinable
    package var isOpen: Bool {
        switch self.state {
        case .open: true
        case .closeSent, .finished: false
        }
    }

    /// Whether the connection is finished. Further bytes are ignored.
    @inlinable
    package var isFinished: Bool {
        switch self.state {
        case .finished: true
        case .open, .closeSent: false
        }
    }

    /// The number of stored bytes of an incomplete message; 0 if no message is incomplete.
    package var unfinishedBytes: Int { self.partial?.payload.readableBytes ?? 0 }

    // MARK: Frames

    /// The action for a frame. Rare cases are indirect, because a value is created for every frame
    /// and should be small.
    package enum FrameAction: Equatable {
        /// Deliver a complete message.
        case deliver(WebSocketMessage)
        /// Answer a Ping with the same payload.
        case sendPong(ByteBuffer)
        /// A Pong was received, solicited or not.
        case receivedPong(ByteBuffer)
        /// The peer sent a Close frame: answer with this Close frame, report the close, and close
        /// the transport.
        indirect case answerClose(WebSocketClosePayload, received: WebSocketClosePayload)
        /// The peer answered this side's Close frame: report the close, and close the transport.
        indirect case finishClose(received: WebSocketClosePayload)
        /// The connection failed: send the error's Close frame if `sendClose` is `true`, report the
        /// error, and close the transport.
        indirect case fail(WebSocketError, sendClose: Bool)
        case doNothing
    }

    /// Handles a frame or a piece of a frame.
    ///
    /// - Parameter isASCII: Whether the payload is known to be ASCII, which makes validation
    ///   unnecessary.
    package mutating func receivedFrame(_ frame: WebSocketFrame, isASCII: Bool = false) -> FrameAction {
        switch self.state {
        case .open: break
        case .closeSent: return self.receivedFrameWhileClosing(frame)
        case .finished: return .doNothing  // frames after the end of the connection are ignored
        }
        switch frame.opcode {
        case .text, .binary:
            guard self.partial == nil else {
                return self.fail(.protocolViolation, "a message began before the last fragment of the previous one")
            }
            guard frame.isFinal, !frame.reserved.contains(.rsv1) else { return self.receivedBeginning(of: frame) }
            return self.receivedMessage(frame.payload, isText: frame.opcode == .text, isASCII: isASCII)
        case .continuation:
            // Move the message out of the state, so that its buffer is appended to in place.
            guard let partial = self.partial.take() else {
                return self.fail(.protocolViolation, "a continuation frame has no message to continue")
            }
            return self.receivedContinuation(frame, of: partial)
        case .ping:
            return .sendPong(frame.payload)
        case .pong:
            // RFC 6455 section 5.5.3: "A response to an unsolicited Pong frame is not expected."
            return .receivedPong(frame.payload)
        case .close:
            do throws(WebSocketError) {
                let received = try WebSocketClosePayload(parsing: frame.payload)
                self.finish()
                // RFC 6455 section 5.5.1: "the endpoint typically echos the status code it
                // received"
                let answer = received.code.flatMap { try? WebSocketClosePayload(code: $0, reason: "") } ?? .empty
                return .answerClose(answer, received: received)
            } catch {
                return self.failed(error)
            }
        }
    }

    /// Handles invalid bytes found by the decoder.
    package mutating func decoderFailed(_ error: WebSocketError) -> FrameAction {
        switch self.state {
        case .open, .closeSent: self.failed(error)
        case .finished: .doNothing  // data after the connection has ended
        }
    }

    // MARK: Closing

    package enum CloseAction: Equatable {
        /// Send this Close frame and start the timer of ``WebSocketLimits/closeTimeout``.
        case sendClose(WebSocketClosePayload)
        case doNothing
    }

    /// Handles the application's request to close.
    package mutating func closeRequested(_ payload: WebSocketClosePayload) -> CloseAction {
        switch self.state {
        case .open:
            self.state = .closeSent
            self.partial = nil
            self.inflater = nil  // no further message is delivered
            return .sendClose(payload)
        case .closeSent, .finished:
            return .doNothing  // already closed
        }
    }

    package enum EndAction: Equatable {
        /// Report the error to the application, and close the transport if it is open.
        case report(WebSocketError)
        /// The close was already reported; close the transport.
        case closeTransport
    }

    /// Handles the close timeout: the peer did not answer the Close frame, or did not close the
    /// transport.
    package mutating func closeTimerFired() -> EndAction {
        switch self.state {
        case .open, .closeSent:
            self.finish()
            return .report(WebSocketError(.timeout, message: "the peer did not answer the Close frame within `closeTimeout`"))
        case .finished:
            return .closeTransport
        }
    }

    /// Handles the end of the transport, with its error if it failed.
    package mutating func transportClosed(cause: (any Error)? = nil) -> EndAction {
        switch self.state {
        case .open:
            self.finish()
            if let cause {
                return .report(WebSocketError(.transport, message: "the transport failed", cause: cause))
            }
            return .report(WebSocketError(.connectionLost, message: "the transport ended without a Close frame"))
        case .closeSent:
            self.finish()
            return .report(
                WebSocketError(
                    .connectionLost, message: "the transport ended without an answer to the Close frame of this side", cause: cause))
        case .finished:
            return .closeTransport
        }
    }

    /// Handles the application's request to abort. Returns `false` if the end of the connection was
    /// already reported.
    package mutating func abortRequested() -> Bool {
        switch self.state {
        case .open, .closeSent:
            self.finish()
            return true
        case .finished:
            return false
        }
    }
}

// MARK: Messages

extension WebSocketConnectionStateMachine {
    /// Handles a message of one unfragmented, uncompressed frame, the common case. This is a
    /// separate function, because the compiler otherwise copies the whole frame.
    private mutating func receivedMessage(_ payload: ByteBuffer, isText: Bool, isASCII: Bool) -> FrameAction {
        guard isText, !isASCII else { return .deliver(WebSocketMessage(isText ? .text : .binary, payload)) }
        self.validator = UTF8StreamValidator()
        guard self.validator.receive(payload) else { return self.fail(.invalidUTF8, "a text message is not UTF-8") }
        return self.delivery(isText: true, payload: payload)
    }

    private mutating func receivedBeginning(of frame: WebSocketFrame) -> FrameAction {
        let isText = frame.opcode == .text
        let isCompressed = frame.reserved.contains(.rsv1)
        self.validator = UTF8StreamValidator()
        // The payload is copied, because the frame is a slice of the read buffer, which a slow
        // message must not retain.
        return self.receivedContinuation(frame, of: PartialMessage(isText: isText, isCompressed: isCompressed, payload: ByteBuffer()))
    }

    /// Adds a piece to the message. Validates each piece as it arrives, so that an invalid text
    /// fails at its first invalid byte.
    private mutating func receivedContinuation(_ piece: WebSocketFrame, of partial: consuming PartialMessage) -> FrameAction {
        if partial.isCompressed {
            let before = partial.payload.readableBytes
            do throws(WebSocketError) {
                try self.inflate(piece.payload, isLast: piece.isFinal, into: &partial.payload)
            } catch {
                return self.failed(error)
            }
            if partial.isText {
                let isValid = partial.payload.withUnsafeReadableBytes {
                    self.validator.receive(UnsafeRawBufferPointer(rebasing: $0[before...]))
                }
                guard isValid else { return self.fail(.invalidUTF8, "a compressed text message is not UTF-8") }
            }
        } else {
            guard !partial.isText || self.validator.receive(piece.payload) else {
                return self.fail(.invalidUTF8, "a text message is not UTF-8")
            }
            partial.append(piece)
        }
        guard piece.isFinal else {
            self.partial = partial
            return .doNothing
        }
        return self.delivery(isText: partial.isText, payload: partial.payload)
    }

    private mutating func inflate(_ piece: ByteBuffer, isLast: Bool, into payload: inout ByteBuffer) throws(WebSocketError) {
        guard let deflate = self.deflate else {
            throw WebSocketError(.protocolViolation, message: "a message is compressed, but permessage-deflate was not negotiated")
        }
        let inflater: WebSocketInflater
        if let present = self.inflater { inflater = present } else { inflater = try WebSocketInflater(deflate) }
        try inflater.inflate(piece, isLast: isLast, into: &payload, maximumBytes: self.maximumMessageBytes)
        self.inflater = isLast && !deflate.incomingTakesContextOver ? nil : inflater
    }

    private mutating func delivery(isText: Bool, payload: ByteBuffer) -> FrameAction {
        guard isText else { return .deliver(WebSocketMessage(.binary, payload)) }
        guard self.validator.isComplete else {
            return self.fail(.invalidUTF8, "a text message ends within a character")
        }
        return .deliver(WebSocketMessage(.text, payload))
    }
}

// MARK: Sending

extension WebSocketConnectionStateMachine {
    /// Whether a message is being sent in pieces. No other message may be sent between the pieces
    /// (RFC 6455 section 5.4).
    @inlinable
    package var isSendingPieces: Bool { self.outgoing.isOpen }

    /// Handles the application's request to send a piece of a message.
    ///
    /// - Returns: The opcode of the piece's frame; `nil` if the connection is closing and the piece
    ///   must not be sent.
    /// - Throws: ``WebSocketError/Code/invalidUse`` if the piece does not fit the current message.
    package mutating func pieceRequested(
        _ bytes: ByteBuffer, of kind: WebSocketMessage.Kind, isLast: Bool
    ) throws(WebSocketError) -> WebSocketOpcode? {
        guard self.isOpen else { return nil }
        return try self.outgoing.add(bytes, of: kind, isLast: isLast)
    }
}

// MARK: Ending

extension WebSocketConnectionStateMachine {
    private mutating func receivedFrameWhileClosing(_ frame: WebSocketFrame) -> FrameAction {
        switch frame.opcode {
        case .close:
            do throws(WebSocketError) {
                let received = try WebSocketClosePayload(parsing: frame.payload)
                self.finish()
                return .finishClose(received: received)
            } catch {
                return self.failed(error)
            }
        case .continuation, .text, .binary, .ping, .pong:
            // RFC 6455 section 5.5.1: no frame may follow a Close frame, so a Ping is not answered.
            return .doNothing
        }
    }

    private mutating func fail(_ code: WebSocketError.Code, _ message: String) -> FrameAction {
        self.failed(WebSocketError(code, message: message))
    }

    private mutating func failed(_ error: WebSocketError) -> FrameAction {
        let sendClose = self.isOpen
        self.finish()
        return .fail(error, sendClose: sendClose)
    }

    private mutating func finish() {
        self.state = .finished
        self.partial = nil
        self.inflater = nil
    }
}

/// Tracks a message that is sent in pieces.
///
/// Source: RFC 6455 section 5.4.
@usableFromInline
struct WebSocketOutgoingMessage: Sendable {
    @usableFromInline
    enum State: Sendable {
        case none
        /// Pieces were sent, but not the last one.
        case open(WebSocketMessage.Kind)
    }

    @usableFromInline
    var state = State.none
    /// Validates a text, whose pieces may begin and end within a character.
    private var validator = UTF8StreamValidator()

    @inlinable
    var isOpen: Bool {
        switch self.state {
        case .none: false
        case .open: true
        }
    }

    /// Returns the opcode of the next piece's frame.
    mutating func add(_ bytes: ByteBuffer, of kind: WebSocketMessage.Kind, isLast: Bool) throws(WebSocketError) -> WebSocketOpcode {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.invalidUse, message: message) }
        let opcode: WebSocketOpcode
        switch self.state {
        case .none:
            opcode = kind == .text ? .text : .binary
            self.validator = UTF8StreamValidator()
        case .open(let present):
            guard present == kind else { throw refuse("the piece is \(kind), but the message is \(present)") }
            opcode = .continuation
        }
        if kind == .text {
            var validator = self.validator
            guard validator.receive(bytes), !isLast || validator.isComplete else {
                throw refuse("the pieces of a text message must form valid UTF-8")
            }
            self.validator = validator
        }
        self.state = isLast ? .none : .open(kind)
        return opcode
    }
}
