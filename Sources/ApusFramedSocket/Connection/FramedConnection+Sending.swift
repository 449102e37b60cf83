import ApusFramedProtocol
public import ApusJSON
public import NIOCore

/// How far a message has got.
public struct FramedProgress: Sendable, Hashable {
    /// Bytes of the body that the transport has taken.
    public var sentBytes: Int
    /// The bytes of the body.
    public var totalBytes: Int

    /// The share that has been sent, 0…1; 1 for an empty body.
    public var fraction: Double { self.totalBytes == 0 ? 1 : Double(self.sentBytes) / Double(self.totalBytes) }
}

extension FramedConnection {
    /// Hears how far a message or a file has got, after every piece, on the connection's event loop. It must not block.
    public typealias ProgressHandler = @Sendable (FramedProgress) -> Void

    /// Sends a message from memory.
    ///
    /// One message is sent at a time, in the order of the calls. Returning means that the transport has taken all of it, not that it has
    /// arrived. What is wrong with a message is found before its first byte: the connection is then as good as before.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - header: The fields of the header.
    ///   - timeout: How long it may take in all, waiting for its turn included. A message that is under way then takes the connection with it.
    ///     Default: `nil`, no such bound; ``FramedConnectionConfiguration/stallTimeout`` holds in any case.
    ///   - progress: Hears how far it has got.
    /// - Throws: ``FramedError``: `headerTooLarge` and `frameTooLarge` by the framing's rules and the peer's, `timeout`, `closed` or the error
    ///   that ended the connection. `CancellationError` when the task was cancelled: before its turn nothing was sent, later the connection
    ///   ends, because a message cannot be left half said.
    public func send(
        _ body: ByteBuffer = ByteBuffer(), header: JSONObject = [:], timeout: Duration? = nil, progress: ProgressHandler? = nil
    ) async throws {
        var rest = body
        try await self.send(header: header, bodyLength: body.readableBytes, timeout: timeout, progress: progress) {
            rest.readSlice(length: min(FramedOutgoingMessage.pieceBytes, rest.readableBytes))
        }
    }

    /// Sends a message whose body is made while it is sent.
    ///
    /// - Parameters:
    ///   - body: The pieces of the body, in order. At most two are held that the transport has not taken, before the next is asked for.
    ///   - bodyLength: The length of all of them together. When that many have been sent no more are asked for.
    ///   - header: The fields of the header.
    ///   - timeout: As for ``send(_:header:timeout:progress:)``. It ends the connection; it does not wake a sequence that does not go on.
    ///   - progress: Hears how far it has got.
    /// - Throws: As for ``send(_:header:timeout:progress:)``, what `body` throws, and ``FramedError/Code/invalidUse`` when it has fewer
    ///   bytes or a piece goes beyond them. The connection ends then, when something of the message has been sent.
    public func send<Body: AsyncSequence & Sendable>(
        _ body: Body, bodyLength: Int, header: JSONObject = [:], timeout: Duration? = nil, progress: ProgressHandler? = nil
    ) async throws where Body.Element == ByteBuffer {
        var iterator = body.makeAsyncIterator()
        try await self.send(header: header, bodyLength: bodyLength, timeout: timeout, progress: progress) {
            try await iterator.next()
        }
    }

    /// - Parameter nextPiece: Asked until it has given the whole body, or `nil`.
    func send(
        header: JSONObject, bodyLength: Int, timeout: Duration?, progress: ProgressHandler?, nextPiece: () async throws -> ByteBuffer?
    ) async throws {
        let ticket = SendSerializer.Ticket()
        let deadline = timeout.map { self.deadline($0, for: ticket) }
        defer { deadline?.cancel() }
        try await self.turns.take(ticket)
        defer { self.turns.giveBack(ticket) }
        var message = try await self.eventLoop.submit { try self.outgoing(header, bodyLength: bodyLength) }.get()
        let underWay = FramedPieces()
        do {
            repeat {
                try Task.checkCancellation()
                guard let piece = try await message.missing == 0 ? ByteBuffer() : nextPiece() else {
                    try Task.checkCancellation()  // most sequences just end then
                    throw FramedError(.invalidUse, message: "a body that is \(message.missing) bytes shorter than announced")
                }
                let buffers = try message.next(piece)
                guard !buffers.isEmpty else { continue }
                let sent = FramedProgress(sentBytes: bodyLength - message.missing, totalBytes: bodyLength)
                self.write(buffers, underWay) { progress?(sent) }
                if underWay.count >= Self.maximumPiecesUnderWay { try await self.wait(for: underWay, atMost: 1) }
            } while !message.isComplete
            try await self.wait(for: underWay, atMost: 0)
        } catch {
            guard message.hasBytesOut else { throw error }
            let reason = error as? FramedError ?? FramedError(.closed, message: "a message was given up half said", cause: error)
            self.onLoop { $0.fail(reason) }
            throw error
        }
    }

    private func deadline(_ timeout: Duration, for ticket: SendSerializer.Ticket) -> Scheduled<Void> {
        self.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
            let error = FramedError(.timeout, message: "a message was not sent within \(timeout)")
            if self.turns.giveUp(ticket, because: error) { self.fail(error) }
        }
    }

    private func outgoing(_ header: JSONObject, bodyLength: Int) throws(FramedError) -> FramedOutgoingMessage {
        guard let handler = self.handler else { throw self.closure?.error ?? FramedError(.closed, message: "the connection is closed") }
        return try handler.message(header, bodyLength: bodyLength)
    }

    /// Keeps the transport busy while a piece is made, and is no more than memory may hold of one message.
    private static let maximumPiecesUnderWay = 3

    /// - Parameter taken: Called on the loop when the transport has taken all of it.
    private func write(_ buffers: [ByteBuffer], _ underWay: FramedPieces, taken: @escaping @Sendable () -> Void) {
        underWay.began()
        self.onLoop { connection in
            guard let written = connection.handler?.write(buffers) else {
                return underWay.ended(.failure(FramedError(.closed, message: "the connection is closed")))
            }
            written.assumeIsolated().whenComplete { result in
                if case .success = result { taken() }
                underWay.ended(result)
            }
        }
    }

    private func wait(for underWay: FramedPieces, atMost count: Int) async throws {
        do {
            try await underWay.wait(atMost: count)
        } catch let error as FramedError {
            throw self.closure?.error ?? error
        } catch {
            // The transport says that it is closed; the connection knows why.
            throw self.closure?.error ?? FramedError(.connectionLost, message: "the connection ended within a message", cause: error)
        }
    }
}
