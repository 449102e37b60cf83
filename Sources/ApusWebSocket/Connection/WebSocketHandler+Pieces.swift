package import ApusWebSocketProtocol
package import NIOCore

/// A message or frame that waits for the last piece of a fragmented message.
enum DeferredSend {
    case message(WebSocketMessage)
    case frame(ByteBuffer)
}

extension WebSocketHandler {
    /// Sends a message of unknown length in pieces, each in a frame of its own.
    ///
    /// Pings and Pongs may be sent between the pieces. Other messages wait for the last piece, up
    /// to ``WebSocketLimits/maximumDeferredBytes``. Pieces are dropped after
    /// ``close(code:reason:)`` and after the end.
    ///
    /// - Parameters:
    ///   - bytes: The next piece. The pieces of a text must form valid UTF-8 together; a piece may
    ///     end within a character.
    ///   - kind: The kind of the message, the same for all its pieces.
    ///   - isLast: Whether the piece is the last one of the message.
    ///   - compression: The value for the first piece applies to the message; `.automatic`
    ///     compresses regardless of the length.
    /// - Throws: ``WebSocketError/Code/invalidUse``. Nothing was sent then, and the message can be
    ///   continued.
    package func send(
        piece bytes: ByteBuffer, of kind: WebSocketMessage.Kind, isLast: Bool, compression: WebSocketCompression = .automatic
    ) throws(WebSocketError) {
        guard self.isOpen, let opcode = try self.machine.pieceRequested(bytes, of: kind, isLast: isLast) else { return }
        let isFirst = opcode != .continuation
        if isFirst {
            self.compressesPieces = self.deflate != nil && compression != .never
        }
        if self.compressesPieces {
            self.sendCompressed(bytes, isLast: isLast, opcode: opcode, reserved: isFirst ? .rsv1 : .unset)
        } else {
            self.send(bytes, isFinal: isLast, reserved: .unset, opcode: opcode)
        }
        if isLast { self.sendDeferred() }
    }

    /// Compresses and sends a message or a piece of one.
    func sendCompressed(_ payload: ByteBuffer, isLast: Bool, opcode: WebSocketOpcode, reserved: WebSocketReservedBits) {
        guard let deflate = self.deflate else { return }
        var compressed = ByteBuffer()
        do throws(WebSocketError) {
            let deflater: WebSocketDeflater
            if let present = self.deflater { deflater = present } else { deflater = try WebSocketDeflater(deflate) }
            try deflater.deflate(payload, isLast: isLast, into: &compressed)
            self.deflater = deflater
            if isLast, !deflate.outgoingTakesContextOver {
                deflater.reset()
                self.deflaterIsSpare = true
            } else {
                self.deflaterIsSpare = false
            }
        } catch {
            // Fails only for lack of memory. The sent part of the message cannot be taken back.
            return self.fail(error)
        }
        self.send(compressed, isFinal: isLast, reserved: reserved, opcode: opcode)
    }

    func deferUntilLastPiece(_ send: DeferredSend, bytes: Int) {
        guard self.deferredBytes + bytes <= self.maximumDeferredBytes else {
            let error = WebSocketError(
                .invalidUse,
                message: "more than \(self.maximumDeferredBytes) bytes (`maximumDeferredBytes`) wait behind a fragmented message")
            return self.fail(error)
        }
        let extras = self.makeExtras()
        extras.deferred.append(send)
        extras.deferredBytes += bytes
    }

    private func sendDeferred() {
        guard !self.deferred.isEmpty else { return }
        let waiting = self.deferred
        self.discardDeferred()
        for send in waiting {
            switch send {
            case .message(let message): self.send(message)
            case .frame(let frame): self.send(preencoded: frame)
            }
        }
    }

    func discardDeferred() {
        self.deferred = []
        self.deferredBytes = 0
    }
}
