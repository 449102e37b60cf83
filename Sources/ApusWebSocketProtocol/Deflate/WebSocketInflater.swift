import CZlib
package import NIOCore

/// Decompresses the incoming messages of a connection, and limits their size.
///
/// A reference beyond the negotiated window is refused only if zlib has discarded the referenced
/// bytes.
///
/// Owns zlib's state (40 KiB with 15 window bits) and frees it. Confined to the connection's event
/// loop.
///
/// Source: RFC 7692 section 7.2.2.
package final class WebSocketInflater {
    /// zlib's stream. It is allocated separately, because zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>
    private let windowBits: Int
    /// Whether the message's data has ended (a block with BFINAL). Only a padding zero may follow.
    private var hasEnded = false
    private var hasPadding = false

    /// Creates a decompressor.
    ///
    /// - Throws: ``WebSocketError/Code/compressionFailed`` if memory is exhausted.
    package init(_ agreement: WebSocketDeflateAgreement) throws(WebSocketError) {
        self.windowBits = agreement.incomingWindowBits
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = CZlib_inflateInit2(stream, CInt(clamping: -agreement.incomingWindowBits))
        guard result == Z_OK else {
            stream.deinitialize(count: 1)
            stream.deallocate()
            throw WebSocketError(.compressionFailed, message: "zlib failed to initialize decompression (\(result))")
        }
        self.stream = stream
    }

    deinit {
        inflateEnd(self.stream)
        self.stream.deinitialize(count: 1)
        self.stream.deallocate()
    }

    /// Decompresses the next piece of a message and appends it to `output`.
    ///
    /// - Parameters:
    ///   - piece: Payload bytes of the message's frames. A piece may begin and end anywhere.
    ///   - isLast: Whether the message ends with this piece.
    ///   - output: The decompressed message so far, and no other bytes. Never exceeds
    ///     `maximumBytes`.
    ///   - maximumBytes: The maximum size of the message.
    /// - Throws: ``WebSocketError/Code/messageTooLarge``,
    ///   ``WebSocketError/Code/invalidCompression``, or ``WebSocketError/Code/compressionFailed``
    ///   if zlib cannot be reset. The inflater must not be used after an error.
    package func inflate(
        _ piece: ByteBuffer, isLast: Bool, into output: inout ByteBuffer, maximumBytes: Int
    ) throws(WebSocketError) {
        switch piece.withUnsafeReadableBytes({ self.run($0, into: &output, maximumBytes: maximumBytes) }) {
        case .taken: break
        case .failed(let error): throw error
        }
        guard isLast else { return }
        if self.hasEnded {
            try self.startAnew()
        } else {
            try self.finish(into: &output, maximumBytes: maximumBytes)
        }
    }

    /// Ends a message (RFC 7692 section 7.2.2): "Append 4 octets of 0x00 0x00 0xff 0xff to the tail
    /// end of the payload".
    private func finish(into output: inout ByteBuffer, maximumBytes: Int) throws(WebSocketError) {
        let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
        let before = output.readableBytes
        switch tail.withUnsafeBytes({ self.run($0, into: &output, maximumBytes: maximumBytes) }) {
        case .taken: break
        case .failed(let error): throw error
        }
        // The tail could also complete a truncated stored block and thus produce output. In
        // `data_type` (zlib.h, `inflate`), 128 means that zlib is between two blocks, and the low
        // six bits count the unused bits of the last byte.
        let state = self.stream.pointee.data_type
        guard output.readableBytes == before, !self.hasEnded, state & 128 != 0, state & 63 == 0 else {
            throw WebSocketError(.invalidCompression, message: "a compressed message ends within a DEFLATE block")
        }
    }

    /// Resets zlib after a block with BFINAL, and keeps the window, so that later messages can
    /// refer to this one.
    ///
    /// Call at most once per message. If zlib were reset within a message, a peer could force a
    /// copy of the window for every two bytes.
    private func startAnew() throws(WebSocketError) {
        self.hasEnded = false
        self.hasPadding = false
        var count: uInt = 0
        var window = [UInt8](repeating: 0, count: 1 << 15)
        var result = inflateGetDictionary(self.stream, &window, &count)
        if result == Z_OK { result = inflateReset2(self.stream, CInt(clamping: -self.windowBits)) }
        if result == Z_OK, count > 0 { result = inflateSetDictionary(self.stream, window, count) }
        guard result == Z_OK else {
            throw WebSocketError(.compressionFailed, message: "zlib failed to reset decompression (\(result))")
        }
    }

    // MARK: Steps

    private enum Outcome {
        case taken
        case failed(WebSocketError)
    }

    private func run(_ input: UnsafeRawBufferPointer, into output: inout ByteBuffer, maximumBytes: Int) -> Outcome {
        var offset = 0
        var hasMore = false
        while offset < input.count || hasMore {
            if self.hasEnded {
                // RFC 7692 section 7.2.3.4: senders that end with BFINAL append one zero byte.
                // Anything else is invalid (CVE-2022-3252).
                guard !self.hasPadding, input.count - offset == 1, input[offset] == 0 else {
                    return .failed(WebSocketError(.invalidCompression, message: "data follows the end of a compressed message"))
                }
                self.hasPadding = true
                return .taken
            }
            let step = UnsafeRawBufferPointer(rebasing: input[offset...].prefix(zlibStep))
            let before = output.readableBytes
            let result = self.step(step, into: &output, maximumBytes: maximumBytes)
            let consumed = step.count - Int(self.stream.pointee.avail_in)
            offset += consumed
            switch result {
            case .full:
                return .failed(
                    WebSocketError(
                        .messageTooLarge, message: "a message inflates to more than \(maximumBytes) bytes (`maximumMessageBytes`)"))
            case .zlib(Z_OK):
                hasMore = self.stream.pointee.avail_out == 0
            case .zlib(Z_STREAM_END):
                self.hasEnded = true
                hasMore = false
            case .zlib(Z_BUF_ERROR) where offset == input.count && consumed == 0 && before == output.readableBytes:
                hasMore = false  // no output is left
            case .zlib(let code):
                return .failed(WebSocketError(.invalidCompression, message: "a message is not valid DEFLATE data (\(code))"))
            }
        }
        return .taken
    }

    private enum StepResult {
        case zlib(CInt)
        /// The output exceeds the limit.
        case full
    }

    /// Calls zlib once, with output space up to the limit.
    private func step(_ input: UnsafeRawBufferPointer, into output: inout ByteBuffer, maximumBytes: Int) -> StepResult {
        let stream = self.stream
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: Bytef.self).baseAddress)
        stream.pointee.avail_in = uInt(clamping: input.count)
        let allowed = maximumBytes - output.readableBytes
        guard allowed > 0 else {
            // At the limit, the data may still end, but must not produce another byte.
            var extra: Bytef = 0
            return withUnsafeMutablePointer(to: &extra) { extra in
                stream.pointee.next_out = extra
                stream.pointee.avail_out = 1
                let result = CZlib.inflate(stream, Z_SYNC_FLUSH)
                return stream.pointee.avail_out == 0 ? .full : .zlib(result)
            }
        }
        var result = Z_OK
        // The output grows by doubling, from a size that assumes a typical ratio for text.
        output.writeWithUnsafeMutableBytes(minimumWritableBytes: min(allowed, max(64, min(input.count, 1 << 14) * 4))) { room in
            let given = uInt(clamping: min(room.count, allowed, zlibStep))
            stream.pointee.next_out = room.bindMemory(to: Bytef.self).baseAddress
            stream.pointee.avail_out = given
            result = CZlib.inflate(stream, Z_SYNC_FLUSH)
            return Int(given - stream.pointee.avail_out)
        }
        return .zlib(result)
    }
}

@available(*, unavailable)
extension WebSocketInflater: Sendable {}
