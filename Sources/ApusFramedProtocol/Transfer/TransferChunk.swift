package import NIOCore

/// The body of a data frame: the offset of the chunk, its checksum, and its bytes.
///
/// The offset and the checksum are a binary prefix, which costs less than JSON for every chunk. The
/// checksum covers the offset.
package enum TransferChunk {
    /// The maximum number of file bytes in one frame.
    package static let maximumBytes = 256 << 10
    /// The length of the prefix: the offset (eight bytes) and the checksum (four), big endian.
    package static let prefixBytes = 12
    /// The maximum length of the body of a data frame.
    package static let maximumBodyBytes = Self.prefixBytes + Self.maximumBytes

    /// The number of bytes that a data frame contains in addition to the bytes of the file.
    package static let overhead = FrameStart.length + Self.prefixBytes

    /// Appends the whole frame of a chunk. The bytes are read directly into the buffer, without a
    /// copy.
    ///
    /// - Parameter fill: Fills `count` bytes of memory. When it throws, nothing is appended.
    package static func writeFrame(
        stream: UInt16, offset: Int, count: Int, into buffer: inout ByteBuffer,
        fill: (UnsafeMutableRawBufferPointer) throws(TransferError) -> Void
    ) throws(TransferError) {
        let start = buffer.writerIndex
        buffer.reserveCapacity(minimumWritableBytes: Self.overhead + count)
        FrameStart(type: .data, flags: [], stream: stream, headerLength: 0, bodyLength: UInt64((Self.prefixBytes + count).magnitude))
            .write(into: &buffer)
        let prefix = buffer.writerIndex
        buffer.writeMultipleIntegers(UInt64(offset.magnitude), UInt32(0))
        var failure: TransferError?
        var crc = Self.checksum(ofOffset: UInt64(offset.magnitude))
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { memory in
            let bytes = UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
            do throws(TransferError) {
                try fill(bytes)
            } catch {
                failure = error
            }
            crc.update(UnsafeRawBufferPointer(bytes))
            return count
        }
        if let failure {
            buffer.moveWriterIndex(to: start)
            throw failure
        }
        buffer.setInteger(crc.value, at: prefix + 8)
    }

    /// Appends the body of an offer frame: a chunk at offset 0.
    static func write(_ bytes: [UInt8], into buffer: inout ByteBuffer) {
        var crc = Self.checksum(ofOffset: 0)
        bytes.withUnsafeBytes { crc.update($0) }
        buffer.writeMultipleIntegers(UInt64(0), crc.value)
        buffer.writeBytes(bytes)
    }

    /// A received chunk.
    package struct Received: Hashable, Sendable {
        /// The pieces as received, not joined.
        package var pieces: [ByteBuffer]
        package var offset: Int
        package var count: Int
        /// Whether the checksum matches. If it does not, no value is reliable, including the
        /// offset.
        package var isIntact: Bool
    }

    /// Starts a checksum with the offset.
    private static func checksum(ofOffset offset: UInt64) -> CRC32C {
        var crc = CRC32C()
        withUnsafeBytes(of: offset.bigEndian) { crc.update($0) }
        return crc
    }

    private static func checksum(offset: UInt64, _ pieces: [ByteBuffer]) -> UInt32 {
        var crc = Self.checksum(ofOffset: offset)
        for piece in pieces { piece.withUnsafeReadableBytes { crc.update($0) } }
        return crc.value
    }

    /// Assembles the body of a frame from its pieces. Stores at most one chunk.
    package struct Assembler: Sendable {
        /// The memory that the bytes are copied to; `nil` when the pieces are kept as received.
        private var memory: BufferPool?
        private var prefix = ByteBuffer()
        private var pieces: [ByteBuffer] = []
        private var count = 0

        /// The length below which a piece is joined to the previous one. A piece retains the memory
        /// of the whole read that delivered it. Small pieces are joined, because a peer that sends
        /// single bytes would otherwise occupy two thousand times the memory of its data.
        private static let smallPieceBytes = 4 << 10
        private static let joinedBytes = 32 << 10

        /// Creates an empty assembler.
        ///
        /// - Parameter copies: Whether to copy the pieces. Copies are useful when the source reuses
        ///   the memory of released pieces, as TLS does: a copy costs less than new memory for each
        ///   read.
        package init(copies: Bool = false) {
            if copies { self.memory = BufferPool() }
        }

        /// Whether any bytes were received.
        package var isUsed: Bool { self.prefix.writerIndex > 0 }

        /// Appends a piece.
        ///
        /// - Throws: ``TransferError/Code/protocolViolation`` when the chunk exceeds
        ///   ``TransferChunk/maximumBytes``.
        package mutating func receivedPiece(_ piece: ByteBuffer) throws(TransferError) {
            var piece = piece
            let missing = TransferChunk.prefixBytes - self.prefix.readableBytes
            if missing > 0, let bytes = piece.readSlice(length: min(missing, piece.readableBytes)) {
                self.prefix.writeImmutableBuffer(bytes)
            }
            guard piece.readableBytes > 0 else { return }
            guard self.count + piece.readableBytes <= TransferChunk.maximumBytes else {
                throw TransferError(.protocolViolation, message: "a chunk has more than \(TransferChunk.maximumBytes) bytes")
            }
            self.count += piece.readableBytes
            if self.memory != nil {
                self.memory?.append(piece)
                return
            }
            guard !self.pieces.isEmpty, piece.readableBytes < Self.smallPieceBytes,
                self.pieces[self.pieces.count - 1].readableBytes < Self.joinedBytes
            else { return self.pieces.append(piece) }
            self.pieces[self.pieces.count - 1].writeImmutableBuffer(piece)
        }

        /// Returns the chunk at the end of its frame, and resets the assembler.
        ///
        /// - Throws: ``TransferError/Code/protocolViolation`` when the frame contains no chunk.
        package mutating func ended() throws(TransferError) -> Received {
            defer {
                self.prefix = ByteBuffer()
                self.pieces = []
                self.count = 0
            }
            if let bytes = self.memory?.take() { self.pieces = [bytes] }
            guard let (offset, checksum) = self.prefix.readMultipleIntegers(as: (UInt64, UInt32).self), self.count > 0 else {
                throw TransferError(.protocolViolation, message: "a data frame must contain a chunk")
            }
            let isIntact = TransferChunk.checksum(offset: offset, self.pieces) == checksum
            guard let exact = Int(exactly: offset) else {
                guard !isIntact else {
                    throw TransferError(.protocolViolation, message: "the offset \(offset) of a chunk exceeds 2^63 - 1")
                }
                return Received(pieces: self.pieces, offset: 0, count: self.count, isIntact: false)
            }
            return Received(pieces: self.pieces, offset: exact, count: self.count, isIntact: isIntact)
        }
    }

    /// Buffers that are reused when no other reference to their memory remains.
    private struct BufferPool: Sendable {
        /// The maximum number of kept buffers: about the number of chunks that can wait for the
        /// disk.
        private static let maximumBuffers = 24

        private var buffers: [ByteBuffer] = []
        /// The index of the buffer that is being filled.
        private var current: Int?

        mutating func append(_ piece: ByteBuffer) {
            let index = self.current ?? self.nextFree()
            self.current = index
            self.buffers[index].writeImmutableBuffer(piece)
        }

        /// Returns the bytes that were appended since the last call.
        mutating func take() -> ByteBuffer? {
            self.current.take().map { self.buffers[$0] }
        }

        private mutating func nextFree() -> Int {
            for index in self.buffers.indices where self.buffers[index].modifyIfUniquelyOwned({ $0.clear() }) != nil { return index }
            let buffer = ByteBufferAllocator().buffer(capacity: TransferChunk.maximumBytes)
            guard self.buffers.count < Self.maximumBuffers else {
                self.buffers[0] = buffer
                return 0
            }
            self.buffers.append(buffer)
            return self.buffers.count - 1
        }
    }
}
