public import NIOCore

/// One side of a WebSocket after the opening handshake, without I/O. It converts received bytes to
/// events and to bytes to send.
///
/// ```swift
/// var server = WebSocketEndpoint.server()
/// for event in server.receive(bytes) {
///     if case .message(let message) = event { server.send(message) }
/// }
/// transport.write(server.takeOutput())
/// if server.isFinished { transport.close() }
/// ```
///
/// The caller reads and writes, and limits the time to wait for the peer's Close frame and for the
/// end of the transport. A copy shares state, so an endpoint must have one owner.
///
/// Source: RFC 6455.
public struct WebSocketEndpoint {
    /// An action of the peer or a failure of the connection.
    public enum Event: Equatable, Sendable {
        /// A complete message.
        case message(WebSocketMessage)
        /// A Ping. The output contains the Pong.
        case ping(ByteBuffer)
        /// A Pong, solicited or not.
        case pong(ByteBuffer)
        /// The close handshake is complete. `code` is `nil` if the peer's Close frame was empty.
        /// Write the output. A server must then close the transport; a client waits until the
        /// server has closed it (RFC 6455 section 7.1.1).
        case closed(code: WebSocketCloseCode?, reason: String)
        /// The connection failed. Write the output and close the transport.
        case failed(WebSocketError)
    }

    package let role: WebSocketRole
    // `WebSocketHandler` uses these parts directly, with the buffers of its event loop.
    package var machine: WebSocketConnectionStateMachine
    package var decoder: WebSocketFrameDecoder
    /// The beginning of an incomplete header or control frame.
    package var incomplete: ByteBuffer?
    /// The bytes to write.
    package var output = ByteBuffer()
    private let maskingKeys: @Sendable () -> UInt32

    package init(
        role: WebSocketRole, limits: WebSocketLimits, deflate: WebSocketDeflateAgreement?, maskingKeys: @escaping @Sendable () -> UInt32
    ) {
        self.role = role
        self.machine = WebSocketConnectionStateMachine(limits: limits, deflate: deflate)
        self.decoder = WebSocketFrameDecoder(role: role, limits: limits, allowedReservedBits: deflate == nil ? .unset : .rsv1)
        self.maskingKeys = maskingKeys
    }

    /// Creates the endpoint of a server.
    ///
    /// - Parameter limits: The limits on received frames and messages.
    public static func server(limits: WebSocketLimits = .init()) -> Self {
        Self(role: .server, limits: limits, deflate: nil, maskingKeys: { 0 })
    }

    /// Creates the endpoint of a client.
    ///
    /// - Parameters:
    ///   - limits: The limits on received frames and messages.
    ///   - maskingKeys: A closure that returns the masking key of the next frame, from a strong
    ///     source of random numbers (RFC 6455 section 10.3).
    public static func client(limits: WebSocketLimits = .init(), maskingKeys: @escaping @Sendable () -> UInt32) -> Self {
        Self(role: .client, limits: limits, deflate: nil, maskingKeys: maskingKeys)
    }

    /// Whether messages can be sent.
    public var isOpen: Bool { self.machine.isOpen }

    /// Whether the connection has ended. If `true`, received bytes are ignored.
    public var isFinished: Bool { self.machine.isFinished }

    /// Removes and returns the bytes to write.
    public mutating func takeOutput() -> ByteBuffer {
        defer { self.output = ByteBuffer() }
        return self.output
    }

    /// Returns the masking key of the next frame; `nil` on a server, whose frames are not masked.
    package func nextMaskingKey() -> WebSocketMaskingKey? {
        self.role.masks ? WebSocketMaskingKey(word: self.maskingKeys()) : nil
    }

    private mutating func write(_ payload: ByteBuffer, opcode: WebSocketOpcode) {
        WebSocketFrameEncoder.write(payload, opcode: opcode, maskingKey: self.nextMaskingKey(), into: &self.output)
    }
}

// MARK: In

extension WebSocketEndpoint {
    /// Handles received bytes, which may begin and end anywhere in a frame. Returns the events in
    /// order.
    public mutating func receive(_ bytes: ByteBuffer) -> [Event] {
        guard !self.isFinished else { return [] }
        var rest = bytes
        if var joined = self.incomplete.take() {
            joined.writeImmutableBuffer(bytes)
            rest = joined
        }
        var frames: [WebSocketFrame] = []
        let failure = self.decoder.decode(&rest, into: &frames)
        var events: [Event] = []
        for frame in frames { self.perform(self.machine.receivedFrame(frame), &events) }
        if let failure { self.perform(self.machine.decoderFailed(failure), &events) }
        if rest.readableBytes > 0, !self.isFinished { self.incomplete = rest }
        return events
    }

    private mutating func perform(_ action: WebSocketConnectionStateMachine.FrameAction, _ events: inout [Event]) {
        switch action {
        case .deliver(let message): events.append(.message(message))
        case .sendPong(let payload):
            self.write(payload, opcode: .pong)
            events.append(.ping(payload))
        case .receivedPong(let payload): events.append(.pong(payload))
        case .answerClose(let answer, let received):
            self.write(answer.encoded, opcode: .close)
            events.append(.closed(code: received.code, reason: received.reason))
        case .finishClose(let received): events.append(.closed(code: received.code, reason: received.reason))
        case .fail(let error, let sendClose):
            if sendClose { self.write(WebSocketClosePayload(describing: error).encoded, opcode: .close) }
            events.append(.failed(error))
        case .doNothing: break
        }
    }

    /// Handles the end of the transport. Returns the failure; `nil` if the end of the connection
    /// was already reported.
    public mutating func transportEnded() -> Event? {
        switch self.machine.transportClosed() {
        case .report(let error): .failed(error)
        case .closeTransport: nil
        }
    }
}

// MARK: Out

extension WebSocketEndpoint {
    /// Adds a message to the output, uncompressed. Has no effect after ``close(code:reason:)`` and
    /// after the connection has ended.
    public mutating func send(_ message: WebSocketMessage) {
        if self.isOpen { self.write(message.payload, opcode: message.opcode) }
    }

    /// Adds a Ping to the output, by default without a payload. Has no effect after
    /// ``close(code:reason:)`` and after the connection has ended.
    ///
    /// - Throws: ``WebSocketError/Code/invalidUse`` for a payload of more than 125 bytes.
    public mutating func ping(_ payload: ByteBuffer = ByteBuffer()) throws(WebSocketError) {
        guard payload.readableBytes <= 125 else {
            throw WebSocketError(.invalidUse, message: "the payload of a Ping has \(payload.readableBytes) bytes; the limit is 125")
        }
        if self.isOpen { self.write(payload, opcode: .ping) }
    }

    /// Starts the close handshake. Has no effect if this side has sent a Close frame or the
    /// connection has ended.
    ///
    /// - Parameters:
    ///   - code: The close code. Default: 1000. A code that must not be sent results in an empty
    ///     Close frame, without the reason.
    ///   - reason: The reason, truncated to 123 bytes. It is omitted if it contains CR, LF or NUL.
    ///     Default: empty.
    public mutating func close(code: WebSocketCloseCode = .normalClosure, reason: String = "") {
        guard case .sendClose(let payload) = self.machine.closeRequested(WebSocketClosePayload(sending: code, reason)) else { return }
        self.write(payload.encoded, opcode: .close)
    }
}

extension WebSocketClosePayload {
    /// Creates a payload to send. Omits a reason or a code that must not be sent.
    package init(sending code: WebSocketCloseCode, _ reason: String) {
        self = (try? Self(code: code, reason: reason)) ?? (try? Self(code: code, reason: "")) ?? .empty
    }

    /// Creates the payload that ends a failed connection.
    package init(describing error: WebSocketError) { self.init(sending: error.closeCode, error.message) }
}
