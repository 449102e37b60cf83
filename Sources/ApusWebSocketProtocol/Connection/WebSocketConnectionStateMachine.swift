import ApusBytes
package import NIOCore

/// Turns frames into messages and closes a connection in order.
///
/// open → closeSent (we began) or finished (the peer began, or broke a rule); closeSent → finished (the answer, the
/// timer, the end of the transport). Nothing is reported upwards after finished.
///
/// A copy shares the inflater, so a machine has one owner.
///
/// Source: RFC 6455 5.4 (fragments), 5.5 (control frames), 7 (closing), 8.1 (UTF-8); RFC 7692 for compressed messages.
@usableFromInline
package struct WebSocketConnectionStateMachine {
    @usableFromInline
    enum State {
        /// Messages flow. Leaves to `closeSent` or `finished`.
        case open
        /// Our Close frame is on the wire. Leaves to `finished`.
        case closeSent
        /// Both Close frames are through, or the connection has failed; only the transport is still to end. Final.
        case finished
    }

    /// A message of which the last fragment has not come.
    private struct PartialMessage {
        var isText: Bool
        var isCompressed: Bool
        var payload: ByteBuffer

        /// Makes room for more than this has when the frame says that more comes: each growth moves what is there. Not for all it says, since
        /// it may say what it likes.
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
    /// What was agreed on.
    package let deflate: WebSocketDeflateAgreement?
    @usableFromInline
    var state = State.open
    private var partial: PartialMessage?
    private var validator = UTF8StreamValidator()
    /// Made for the first compressed message; let go after each when the peer takes no context over.
    private var inflater: WebSocketInflater?
    @usableFromInline
    var outgoing = WebSocketOutgoingMessage()

    /// - Parameters:
    ///   - limits: The bound of an inflated message; the frames are judged by the decoder.
    ///   - deflate: What was agreed on; without it a compressed message breaks the protocol.
    package init(limits: WebSocketLimits = WebSocketLimits(), deflate: WebSocketDeflateAgreement? = nil) {
        self.maximumMessageBytes = limits.maximumMessageBytes
        self.deflate = deflate
    }

    /// Whether frames of ours may still go out.
    @inlinable
    package var isOpen: Bool {
        switch self.state {
        case .open: true
        case .closeSent, .finished: false
        }
    }

    /// Whether everything was said; bytes that still come are thrown away.
    @inlinable
    package var isFinished: Bool {
        switch self.state {
        case .finished: true
        case .open, .closeSent: false
        }
    }

    /// The bytes that are kept of a message whose last fragment has not come; 0 while there is none.
    package var unfinishedBytes: Int { self.partial?.payload.readableBytes ?? 0 }

    // MARK: Frames

    /// What is rare is indirect: the value is made for every frame, and should be small.
    package enum FrameAction: Equatable {
        /// A whole message came.
        case deliver(WebSocketMessage)
        /// Answer a Ping with the same payload.
        case sendPong(ByteBuffer)
        /// The peer answered a Ping, or sent a Pong nobody asked for.
        case receivedPong(ByteBuffer)
        /// The peer closes: answer with this Close frame, report, and end the transport.
        indirect case answerClose(WebSocketClosePayload, received: WebSocketClosePayload)
        /// The peer answered our Close frame: report, and end the transport.
        indirect case finishClose(received: WebSocketClosePayload)
        /// A rule was broken: send the error's Close frame if `sendClose`, report, and end the transport.
        indirect case fail(WebSocketError, sendClose: Bool)
        case doNothing
    }

    /// A frame came whole.
    ///
    /// - Parameter isASCII: Whether its payload is known to be ASCII; it is then not looked through again.
    package mutating func receivedFrame(_ frame: WebSocketFrame, isASCII: Bool = false) -> FrameAction {
        switch self.state {
        case .open: break
        case .closeSent: return self.receivedFrameWhileClosing(frame)
        case .finished: return .doNothing  // it was on its way while we finished
        }
        switch frame.opcode {
        case .text, .binary:
            guard self.partial == nil else {
                return self.fail(.protocolViolation, "a new message between the fragments of another")
            }
            if frame.isFinal, !frame.reserved.contains(.rsv1) {
                return self.received(frame.payload, isText: frame.opcode == .text, isASCII: isASCII)
            }
            return self.receivedBeginning(of: frame)
        case .continuation:
            // Taken out, so that its buffer is appended to in place.
            guard let partial = self.partial.take() else {
                return self.fail(.protocolViolation, "a continuation of no message")
            }
            return self.received(frame, of: partial)
        case .ping:
            return .sendPong(frame.payload)
        case .pong:
            return .receivedPong(frame.payload)  // 5.5.3: "A response to an unsolicited Pong frame is not expected."
        case .close:
            do throws(WebSocketError) {
                let received = try WebSocketClosePayload(parsing: frame.payload)
                self.finish()
                // 5.5.1: "the endpoint typically echos the status code it received"
                let answer = received.code.flatMap { try? WebSocketClosePayload(code: $0, reason: "") } ?? .empty
                return .answerClose(answer, received: received)
            } catch {
                return self.failed(error)
            }
        }
    }

    /// The decoder met bytes that are no frame.
    package mutating func decoderFailed(_ error: WebSocketError) -> FrameAction {
        switch self.state {
        case .open, .closeSent: self.failed(error)
        case .finished: .doNothing  // junk after the end
        }
    }

    // MARK: Closing

    package enum CloseAction: Equatable {
        /// Send this Close frame and start the timer of ``WebSocketLimits/closeTimeout``.
        case sendClose(WebSocketClosePayload)
        case doNothing
    }

    /// The user wants to close.
    package mutating func closeRequested(_ payload: WebSocketClosePayload) -> CloseAction {
        switch self.state {
        case .open:
            self.state = .closeSent
            self.partial = nil
            self.inflater = nil  // nobody waits for messages any more
            return .sendClose(payload)
        case .closeSent, .finished:
            return .doNothing  // closing twice is closing once
        }
    }

    package enum EndAction: Equatable {
        /// Tell the user; the transport must go, if it has not gone.
        case report(WebSocketError)
        /// The user knows already; the transport must go.
        case closeTransport
    }

    /// The peer did not answer our Close frame, or did not end its transport, in time.
    package mutating func closeTimerFired() -> EndAction {
        switch self.state {
        case .open, .closeSent:
            self.finish()
            return .report(WebSocketError(.timeout, message: "the peer did not answer the Close frame in time"))
        case .finished:
            return .closeTransport
        }
    }

    /// The transport ended, or failed with `cause`.
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
                WebSocketError(.connectionLost, message: "the transport ended without an answer to our Close frame", cause: cause))
        case .finished:
            return .closeTransport
        }
    }

    /// The user ends the connection at once. `true`: it was not finished before, report it now.
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
    /// The common case: one frame, and its payload is the message.
    private mutating func received(_ payload: ByteBuffer, isText: Bool, isASCII: Bool) -> FrameAction {
        guard isText, !isASCII else { return .deliver(WebSocketMessage(isText ? .text : .binary, payload)) }
        self.validator = UTF8StreamValidator()
        guard self.validator.receive(payload) else { return self.fail(.invalidUTF8, "a text message is not UTF-8") }
        return self.delivery(isText: true, payload: payload)
    }

    private mutating func receivedBeginning(of frame: WebSocketFrame) -> FrameAction {
        let isText = frame.opcode == .text
        let isCompressed = frame.reserved.contains(.rsv1)
        self.validator = UTF8StreamValidator()
        // Copied: the frame is a slice of what was read, and a slow message must not keep that alive.
        return self.received(frame, of: PartialMessage(isText: isText, isCompressed: isCompressed, payload: ByteBuffer()))
    }

    /// Each piece is looked at as it comes: "fail fast" on the first impossible byte.
    private mutating func received(_ piece: WebSocketFrame, of partial: consuming PartialMessage) -> FrameAction {
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
            throw WebSocketError(.protocolViolation, message: "a compressed message without an agreement")
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
    /// Whether the frames of a message in pieces are going out; no other message may stand between them (RFC 6455 5.4).
    @inlinable
    package var isSendingPieces: Bool { self.outgoing.isOpen }

    /// The user sends the next piece of a message.
    ///
    /// - Returns: The opcode of the piece's frame; `nil` when the connection is closing and nothing is to be sent.
    /// - Throws: ``WebSocketError/Code/invalidUse`` when the piece does not belong to the message that is under way.
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
            return .doNothing  // 5.5.1: after a Close frame we may not answer, and nobody waits for messages
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
