import ApusEventLoop
import ApusFramedProtocol
public import ApusJSON
public import NIOCore

/// The progress of a message or a file.
public struct FramedProgress: Sendable, Hashable {
    /// The number of bytes that were written to the transport; for a file, the number of bytes that
    /// are durable at the receiver.
    public var sentBytes: Int
    /// The total number of bytes.
    public var totalBytes: Int

    /// The fraction that has been sent, 0…1; 1 for an empty body.
    public var fraction: Double { self.totalBytes == 0 ? 1 : Double(self.sentBytes) / Double(self.totalBytes) }
}

extension FramedConnection {
    /// Receives the progress of a message or a file after each piece, on the event loop. It must
    /// not block.
    public typealias ProgressHandler = @Sendable (FramedProgress) -> Void

    /// Sends a message from memory.
    ///
    /// Messages are sent one at a time, in the order of the calls. The method returns when the
    /// transport has written the whole message, not when the peer has received it. An invalid
    /// message is rejected before its first byte and leaves the connection usable.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - header: The fields of the header.
    ///   - timeout: The maximum time of the call, including the wait for earlier messages. If the
    ///     message is being sent when the time expires, the connection closes. Default: `nil`, no
    ///     limit apart from ``FramedConnectionConfiguration/stallTimeout``.
    ///   - progress: Receives the progress.
    /// - Throws: `FramedError`: `headerTooLarge` or `frameTooLarge` when the message exceeds a
    ///   limit that the peer announced or the agreed header length, `invalidUse` for a header that
    ///   has no JSON form, `timeout`, `closed`, or the error that ended the connection.
    ///   `CancellationError` when the task was cancelled. The connection closes if a part of the
    ///   message was already sent.
    public func send(
        _ body: ByteBuffer = ByteBuffer(), header: JSONObject = [:], timeout: Duration? = nil, progress: ProgressHandler? = nil
    ) async throws {
        var rest = body
        try await self.send(header: header, bodyLength: body.readableBytes, timeout: timeout, progress: progress) {
            rest.readSlice(length: min(FramedOutgoingMessage.pieceBytes, rest.readableBytes))
        }
    }

    /// Sends a message whose body is produced while it is sent.
    ///
    /// - Parameters:
    ///   - body: The pieces of the body, in order. A limited number of pieces is buffered before
    ///     the next one is requested.
    ///   - bodyLength: The total length of the pieces in bytes. No piece is requested after this
    ///     length.
    ///   - header: The fields of the header.
    ///   - timeout: As for ``send(_:header:timeout:progress:)``. The timeout closes the connection,
    ///     but does not interrupt a suspended sequence.
    ///   - progress: Receives the progress.
    /// - Throws: As for ``send(_:header:timeout:progress:)``, the errors of `body`, and
    ///   `FramedError.Code.invalidUse` when the pieces are shorter or longer than `bodyLength`.
    ///   The connection closes if a part of the message was already sent.
    public func send<Body: AsyncSequence & Sendable>(
        _ body: Body, bodyLength: Int, header: JSONObject = [:], timeout: Duration? = nil, progress: ProgressHandler? = nil
    ) async throws where Body.Element == ByteBuffer {
        var iterator = body.makeAsyncIterator()
        try await self.send(header: header, bodyLength: bodyLength, timeout: timeout, progress: progress) {
            try await iterator.next()
        }
    }

    /// Sends a message.
    ///
    /// - Parameter nextPiece: Returns the next piece of the body. Called until the pieces form the
    ///   whole body, or until it returns `nil`.
    func send(
        header: JSONObject, bodyLength: Int, timeout: Duration?, progress: ProgressHandler?, nextPiece: () async throws -> ByteBuffer?
    ) async throws {
        let permit = self.turns.makePermit()
        let deadline = timeout.map { self.deadline($0, for: permit) }
        defer { deadline?.cancel() }
        try await self.turns.take(permit)
        defer { self.turns.giveBack(permit) }
        var message = try await self.eventLoop.submit { try self.outgoing(header, bodyLength: bodyLength) }.get()
        let inFlight = InFlightPieces()
        do {
            repeat {
                try Task.checkCancellation()
                guard let piece = try await message.missing == 0 ? ByteBuffer() : nextPiece() else {
                    try Task.checkCancellation()  // most sequences return `nil` on cancellation
                    throw FramedError(.invalidUse, message: "the body is \(message.missing) bytes shorter than `bodyLength`")
                }
                let buffers = try message.next(piece)
                guard !buffers.isEmpty else { continue }
                let sent = FramedProgress(sentBytes: bodyLength - message.missing, totalBytes: bodyLength)
                self.write(buffers, inFlight) { progress?(sent) }
                if inFlight.count >= Self.maximumPiecesInFlight { try await self.wait(for: inFlight, atMost: 1) }
            } while !message.isComplete
            try await self.wait(for: inFlight, atMost: 0)
        } catch {
            guard message.hasBegunSending else { throw error }
            let reason =
                error as? FramedError
                ?? FramedError(.closed, message: "the message was sent only in part, because sending it failed", cause: error)
            self.eventLoop.runOnLoop { self.fail(reason) }
            throw error
        }
    }

    private func deadline(_ timeout: Duration, for permit: SendSerializer.Permit) -> Scheduled<Void> {
        self.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
            let error = FramedError(.timeout, message: "the message was not sent within its `timeout` of \(timeout)")
            if self.turns.giveUp(permit, because: error) { self.fail(error) }
        }
    }

    private func outgoing(_ header: JSONObject, bodyLength: Int) throws(FramedError) -> FramedOutgoingMessage {
        guard let handler = self.handler else { throw self.closure?.error ?? FramedError(.closed, message: "the connection is closed") }
        return try handler.message(header, bodyLength: bodyLength)
    }

    /// The number of pieces in flight at which the next piece waits. Keeps the transport busy while
    /// a piece is produced, and bounds the memory of a message.
    private static let maximumPiecesInFlight = 3

    /// Writes the buffers of one piece.
    ///
    /// - Parameter taken: Called on the event loop when the transport has written all buffers.
    private func write(_ buffers: [ByteBuffer], _ inFlight: InFlightPieces, taken: @escaping @Sendable () -> Void) {
        inFlight.began()
        self.eventLoop.runOnLoop {
            guard let written = self.handler?.write(buffers) else {
                return inFlight.ended(.failure(FramedError(.closed, message: "the connection is closed")))
            }
            written.assumeIsolated().whenComplete { result in
                if case .success = result { taken() }
                inFlight.ended(result)
            }
        }
    }

    private func wait(for inFlight: InFlightPieces, atMost count: Int) async throws {
        do {
            try await inFlight.wait(atMost: count)
        } catch let error as FramedError {
            throw self.closure?.error ?? error
        } catch {
            // The transport reports only that it is closed; the connection stores the reason.
            throw self.closure?.error ?? FramedError(.connectionLost, message: "the connection ended within a message", cause: error)
        }
    }
}
