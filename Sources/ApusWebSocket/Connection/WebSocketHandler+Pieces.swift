package import ApusWebSocketProtocol
package import NIOCore

/// What waits for the last piece of a message.
enum DeferredSend {
    case message(WebSocketMessage)
    case frame(ByteBuffer)
}

extension WebSocketHandler {
    /// Sends a message in pieces, each in a frame of its own, without knowing how long it will be.
    ///
    /// Pings and Pongs go between the pieces; other messages wait for the last of them, at most
    /// ``WebSocketLimits/maximumDeferredBytes``. After ``close(code:reason:)`` and the end pieces are dropped.
    ///
    /// - Parameters:
    ///   - bytes: The next piece. Those of a text must be UTF-8 together, but may be cut within a character.
    ///   - kind: The same for all pieces.
    ///   - isLast: The message ends here.
    ///   - compression: What the first piece says counts; `.automatic` compresses, for such a message is thought to be long.
    /// - Throws: ``WebSocketError/Code/invalidUse``; nothing was sent then, and the message goes on.
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

    /// A message, or a piece of one, through the compression.
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
            // Only for want of memory; what the peer has of the message cannot be taken back.
            return self.fail(error)
        }
        self.send(compressed, isFinal: isLast, reserved: reserved, opcode: opcode)
    }

    func deferUntilLastPiece(_ send: DeferredSend, bytes: Int) {
        guard self.deferredBytes + bytes <= self.maximumDeferredBytes else {
            let error = WebSocketError(
                .invalidUse, message: "more than \(self.maximumDeferredBytes) bytes wait for the last piece of a message")
            return self.fail(error)
        }
        let extras = self.makeExtras()
        extras.deferred.append(send)
        extras.deferredBytes += bytes
    }

    private func sendDeferred() {
        guard !self.deferred.isEmpty else { return }
        let waiting = self.deferred
        self.letGoOfMessages()
        for send in waiting {
            switch send {
            case .message(let message): self.send(message)
            case .frame(let frame): self.send(preencoded: frame)
            }
        }
    }

    func letGoOfMessages() {
        self.deferred = []
        self.deferredBytes = 0
    }
}
