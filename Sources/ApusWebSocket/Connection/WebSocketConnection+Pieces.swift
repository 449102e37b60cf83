import ApusBytes
public import ApusWebSocketProtocol
public import NIOCore

extension WebSocketConnection {
    /// Sends one message in pieces, for example while it is read from a file or generated.
    ///
    /// Each piece is sent in a frame of its own (RFC 6455 5.4) and is not kept. Calls of
    /// ``send(_:)`` from other tasks wait for the last piece; pings do not. Messages that are
    /// posted meanwhile wait too, up to ``WebSocketLimits/maximumDeferredBytes``.
    ///
    /// ```swift
    /// try await connection.send(.text, pieces: lines.map { ByteBuffer(string: $0) })
    /// ```
    ///
    /// - Parameters:
    ///   - kind: The kind of the message. The pieces of a text must form valid UTF-8 together; a
    ///     piece may end within a character.
    ///   - pieces: The pieces. An empty sequence sends an empty message.
    ///   - compression: `.automatic` compresses if compression was negotiated, regardless of the
    ///     length.
    /// - Throws: The errors of ``send(_:)`` and of `pieces`; ``WebSocketError/Code/invalidUse`` for
    ///   a text that is not UTF-8. If a piece was already sent, an error or a cancellation closes
    ///   the connection with 1011.
    public func send<Pieces: AsyncSequence & Sendable>(
        _ kind: WebSocketMessage.Kind, pieces: Pieces, compression: WebSocketCompression = .automatic
    ) async throws where Pieces.Element == ByteBuffer {
        var piece = WebSocketPiece(
            message: self.outbox.nextNumber(), bytes: ByteBuffer(), kind: kind, isLast: false, compression: compression)
        var validator = UTF8StreamValidator()
        var hasBegun = false
        do {
            for try await bytes in pieces where bytes.readableBytes > 0 {
                guard kind == .binary || validator.receive(bytes) else { throw Self.invalidText }
                piece.bytes = bytes
                try await self.outbox.send(.piece(piece))
                hasBegun = true
            }
            guard validator.isComplete else { throw Self.invalidText }
            piece.bytes = ByteBuffer()
            piece.isLast = true
            try await self.outbox.send(.piece(piece))
        } catch {
            if hasBegun { self.startClosing(code: .internalError, reason: "message could not be completed") }
            throw error
        }
    }

    private static var invalidText: WebSocketError {
        WebSocketError(.invalidUse, message: "the pieces of a text message must form valid UTF-8")
    }
}
