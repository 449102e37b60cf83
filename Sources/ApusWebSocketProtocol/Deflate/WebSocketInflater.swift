import CZlib
package import NIOCore

/// Decompresses the messages of one direction of a connection, counting what comes out.
///
/// A peer that refers back beyond the window it agreed to is refused only where zlib has let go of those bytes.
///
/// Owns zlib's state (40 KiB with 15 window bits), which is freed with it. Confined to the connection's event loop.
///
/// Source: RFC 7692 7.2.2.
package final class WebSocketInflater {
    /// zlib keeps a pointer to it, so it needs a place of its own.
    private let stream: UnsafeMutablePointer<z_stream>
    private let windowBits: Int
    /// The message's data said that it ends (a block with BFINAL); only a padding zero may follow.
    private var hasEnded = false
    private var hasPadding = false

    /// - Throws: ``WebSocketError/Code/compressionFailed`` when there is no memory.
    package init(_ agreement: WebSocketDeflateAgreement) throws(WebSocketError) {
        self.windowBits = agreement.incomingWindowBits
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = CZlib_inflateInit2(stream, CInt(clamping: -agreement.incomingWindowBits))
        guard result == Z_OK else {
            stream.deinitialize(count: 1)
            stream.deallocate()
            throw WebSocketError(.compressionFailed, message: "zlib cannot start to decompress (\(result))")
        }
        self.stream = stream
    }

    deinit {
        inflateEnd(self.stream)
        self.stream.deinitialize(count: 1)
        self.stream.deallocate()
    }

    /// Decompresses the next piece of a message to the end of `output`.
    ///
    /// - Parameters:
    ///   - piece: Bytes of the message's frames, cut anywhere.
    ///   - isLast: The message ends here.
    ///   - output: What the message's pieces became so far, and nothing else. Never grows above `maximumBytes`.
    ///   - maximumBytes: The bound of the message.
    /// - Throws: ``WebSocketError/Code/messageTooLarge``, ``WebSocketError/Code/invalidCompression``; the inflater is then of no
    ///   more use.
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

    /// "Append 4 octets of 0x00 0x00 0xff 0xff to the tail end of the payload": an empty block that ends on a whole byte.
    private func finish(into output: inout ByteBuffer, maximumBytes: Int) throws(WebSocketError) {
        let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
        let before = output.readableBytes
        switch tail.withUnsafeBytes({ self.run($0, into: &output, maximumBytes: maximumBytes) }) {
        case .taken: break
        case .failed(let error): throw error
        }
        // Of a stored block that was cut short the tail could be the rest: then something comes out. As for `data_type` (zlib.h on
        // `inflate`), 128 says that we are between two blocks, the low six bits that nothing of the last byte is left over.
        let state = self.stream.pointee.data_type
        guard output.readableBytes == before, !self.hasEnded, state & 128 != 0, state & 63 == 0 else {
            throw WebSocketError(.invalidCompression, message: "a compressed message ends within a block")
        }
    }

    /// After a block with BFINAL zlib reads nothing more. A new start with the old window lets later messages refer to this one.
    ///
    /// Once a message, never within one: a peer could make us copy the window for every two bytes.
    private func startAnew() throws(WebSocketError) {
        self.hasEnded = false
        self.hasPadding = false
        var count: uInt = 0
        var window = [UInt8](repeating: 0, count: 1 << 15)
        var result = inflateGetDictionary(self.stream, &window, &count)
        if result == Z_OK { result = inflateReset2(self.stream, CInt(clamping: -self.windowBits)) }
        if result == Z_OK, count > 0 { result = inflateSetDictionary(self.stream, window, count) }
        guard result == Z_OK else {
            throw WebSocketError(.compressionFailed, message: "zlib cannot start anew (\(result))")
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
                // 7.2.3.4: senders that end with BFINAL append one zero byte. Anything else is junk (CVE-2022-3252).
                guard !self.hasPadding, input.count - offset == 1, input[offset] == 0 else {
                    return .failed(WebSocketError(.invalidCompression, message: "junk after the end of the compressed data"))
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
                    WebSocketError(.messageTooLarge, message: "a message inflates to more than the \(maximumBytes) bytes allowed"))
            case .zlib(Z_OK):
                hasMore = self.stream.pointee.avail_out == 0
            case .zlib(Z_STREAM_END):
                self.hasEnded = true
                hasMore = false
            case .zlib(Z_BUF_ERROR) where offset == input.count && consumed == 0 && before == output.readableBytes:
                hasMore = false  // there was nothing more to write
            case .zlib(let code):
                return .failed(WebSocketError(.invalidCompression, message: "a message is not compressed as it says (\(code))"))
            }
        }
        return .taken
    }

    private enum StepResult {
        case zlib(CInt)
        /// A byte above the bound came out.
        case full
    }

    /// One call of zlib, with as much room as the message may still take.
    private func step(_ input: UnsafeRawBufferPointer, into output: inout ByteBuffer, maximumBytes: Int) -> StepResult {
        let stream = self.stream
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: Bytef.self).baseAddress)
        stream.pointee.avail_in = uInt(clamping: input.count)
        let allowed = maximumBytes - output.readableBytes
        guard allowed > 0 else {
            // At the bound the data may still end, but bring no byte more.
            var extra: Bytef = 0
            return withUnsafeMutablePointer(to: &extra) { extra in
                stream.pointee.next_out = extra
                stream.pointee.avail_out = 1
                let result = CZlib.inflate(stream, Z_SYNC_FLUSH)
                return stream.pointee.avail_out == 0 ? .full : .zlib(result)
            }
        }
        var result = Z_OK
        // Grows by doubling; the first guess is what texts come to.
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
