import ApusBytes
public import ApusWebSocketProtocol
public import NIOCore

extension WebSocketConnection {
    /// Sends one message in pieces, as they come up: one that is read from a file or made on the way, and of which nobody knows the length.
    ///
    /// Each piece goes out in a frame of its own (RFC 6455 5.4) and none is kept; ``send(_:)`` in other tasks waits for the last of them, pings do
    /// not. Of what is posted meanwhile ``WebSocketLimits/maximumDeferredBytes`` may wait.
    ///
    /// ```swift
    /// try await connection.send(.text, pieces: lines.map { ByteBuffer(string: $0) })
    /// ```
    ///
    /// - Parameters:
    ///   - kind: A text's pieces must be UTF-8 together, and may be cut within a character.
    ///   - pieces: The message. Sends an empty message when there are none.
    ///   - compression: `.automatic` compresses where that was agreed on, for such a message is thought to be long.
    /// - Throws: What ``send(_:)`` throws, and what `pieces` throws; ``WebSocketError/Code/invalidUse`` for a text that is none. A message that has
    ///   begun cannot be taken back: the connection is closed with 1011 then, also when the task is cancelled.
    public func send<Pieces: AsyncSequence & Sendable>(
        _ kind: WebSocketMessage.Kind, pieces: Pieces, compression: WebSocketCompression = .automatic
    ) async throws where Pieces.Element == ByteBuffer {
        var piece = WebSocketPiece(
            message: self.outbox.nextNumber(), bytes: ByteBuffer(), kind: kind, isLast: false, compression: compression)
        var validator = UTF8StreamValidator()
        var hasBegun = false
        do {
            for try await bytes in pieces where bytes.readableBytes > 0 {
                guard kind == .binary || validator.receive(bytes) else { throw Self.notText }
                piece.bytes = bytes
                try await self.outbox.send(.piece(piece))
                hasBegun = true
            }
            guard validator.isComplete else { throw Self.notText }
            piece.bytes = ByteBuffer()
            piece.isLast = true
            try await self.outbox.send(.piece(piece))
        } catch {
            if hasBegun { self.startClosing(code: .internalError, reason: "a message could not be sent to its end") }
            throw error
        }
    }

    private static var notText: WebSocketError { WebSocketError(.invalidUse, message: "the pieces of a text are not UTF-8") }
}
