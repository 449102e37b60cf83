package import NIOCore

/// The body of a data frame: where the chunk belongs, its checksum, and its bytes.
///
/// Offset and checksum stand in front of the bytes, in binary, because a chunk in a hundred thousand is not worth a JSON text. The checksum
/// covers the offset as well.
package enum TransferChunk {
    /// The most bytes of a file in one frame.
    package static let maximumBytes = 256 << 10
    /// The offset (eight bytes) and the checksum (four), big endian.
    package static let prefixBytes = 12
    /// The longest body of a data frame.
    package static let maximumBodyBytes = Self.prefixBytes + Self.maximumBytes

    /// The bytes of a frame beside those of the file.
    package static let overhead = FrameStart.length + Self.prefixBytes

    /// Appends the whole frame of a chunk: the bytes are put where they go out from, not copied there.
    ///
    /// - Parameter fill: Gets room for `count` bytes. When it throws nothing was written.
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

    /// Appends the body of a frame: a chunk at the file's beginning.
    static func write(_ bytes: [UInt8], into buffer: inout ByteBuffer) {
        var crc = Self.checksum(ofOffset: 0)
        bytes.withUnsafeBytes { crc.update($0) }
        buffer.writeMultipleIntegers(UInt64(0), crc.value)
        buffer.writeBytes(bytes)
    }

    /// What came in a frame.
    package struct Received: Hashable, Sendable {
        /// The pieces as they came; they are not joined.
        package var pieces: [ByteBuffer]
        package var offset: Int
        package var count: Int
        /// Whether the checksum fits. Of one that does not, nothing is to be believed, the offset least of all.
        package var isIntact: Bool
    }

    /// A checksum begins with the offset.
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

    /// Puts the pieces of a frame's body together. Holds at most one chunk.
    package struct Gatherer: Sendable {
        /// Where the bytes are copied to; `nil`: the pieces are kept as they come.
        private var memory: ReusedMemory?
        private var prefix = ByteBuffer()
        private var pieces: [ByteBuffer] = []
        private var count = 0

        /// A piece holds the memory of the whole read it came with: small ones are joined, or a peer that sends byte by byte would fill
        /// two thousand times what it sends.
        private static let smallPieceBytes = 4 << 10
        private static let joinedBytes = 32 << 10

        /// - Parameter copies: Whether the pieces are copied: where each comes with memory that its maker would use again if nobody kept it, as TLS
        ///   does, a copy costs less than new memory for the next.
        package init(copies: Bool = false) {
            if copies { self.memory = ReusedMemory() }
        }

        /// Whether something of a chunk has come.
        package var isUsed: Bool { self.prefix.writerIndex > 0 }

        /// - Throws: ``TransferError/Code/protocolViolation`` when the chunk gets too large.
        package mutating func received(_ piece: ByteBuffer) throws(TransferError) {
            var piece = piece
            let missing = TransferChunk.prefixBytes - self.prefix.readableBytes
            if missing > 0, let bytes = piece.readSlice(length: min(missing, piece.readableBytes)) {
                self.prefix.writeImmutableBuffer(bytes)
            }
            guard piece.readableBytes > 0 else { return }
            guard self.count + piece.readableBytes <= TransferChunk.maximumBytes else {
                throw TransferError(.protocolViolation, message: "a chunk of more than \(TransferChunk.maximumBytes) bytes")
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

        /// The frame has ended. The gatherer is as new.
        ///
        /// - Throws: ``TransferError/Code/protocolViolation`` when there is no chunk in it.
        package mutating func ended() throws(TransferError) -> Received {
            defer {
                self.prefix = ByteBuffer()
                self.pieces = []
                self.count = 0
            }
            if let bytes = self.memory?.take() { self.pieces = [bytes] }
            guard let (offset, checksum) = self.prefix.readMultipleIntegers(as: (UInt64, UInt32).self), self.count > 0 else {
                throw TransferError(.protocolViolation, message: "data without a chunk")
            }
            let isIntact = TransferChunk.checksum(offset: offset, self.pieces) == checksum
            guard let exact = Int(exactly: offset) else {
                guard !isIntact else { throw TransferError(.protocolViolation, message: "a chunk at \(offset)") }
                return Received(pieces: self.pieces, offset: 0, count: self.count, isIntact: false)
            }
            return Received(pieces: self.pieces, offset: exact, count: self.count, isIntact: isIntact)
        }
    }

    /// Chunks in memory that is used again once nobody holds what was there.
    private struct ReusedMemory: Sendable {
        /// As many as wait for the disk, about.
        private static let maximumBuffers = 24

        private var buffers: [ByteBuffer] = []
        /// The one that is being filled.
        private var current: Int?

        mutating func append(_ piece: ByteBuffer) {
            let index = self.current ?? self.nextFree()
            self.current = index
            self.buffers[index].writeImmutableBuffer(piece)
        }

        /// What was appended since the last call.
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
