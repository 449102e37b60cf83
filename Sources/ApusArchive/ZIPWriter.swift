package import NIOCore

/// Writes a ZIP archive as a stream: no byte is changed after it was written.
///
/// Sizes and checksums follow the data of an entry in a data descriptor. All entries use DEFLATE,
/// including those that are not compressed, because a reader of a stream can detect the end of
/// DEFLATE data. An entry that can reach 4 GiB uses Zip64. In the directory, only numbers that
/// exceed 32 bits use it.
///
/// Source: PKWARE, APPNOTE.TXT 6.3.10. Memory: zlib's state, and about 100 bytes for each entry.
package struct ZIPWriter {
    private var entries: [ZIPEntry] = []
    private var current: ZIPEntry?
    private var deflater: RawDeflater?
    private var level: Int?
    /// The number of bytes written so far.
    private var offset: UInt64 = 0
    private var isFinished = false

    package init() {}

    /// Begins an entry.
    ///
    /// - Parameters:
    ///   - name: The path with slashes, at most 65,535 bytes in UTF-8.
    ///   - time: Milliseconds since 1970.
    ///   - maximumSize: The maximum size of the entry, in bytes. An entry that can reach 4 GiB uses
    ///     Zip64.
    ///   - compresses: Whether the data is worth compressing. Pictures and video are not.
    ///   - output: The buffer to which the bytes of the archive are appended.
    package mutating func begin(
        _ name: String, time: Int64, maximumSize: UInt64, compresses: Bool, into output: inout ByteBuffer
    ) throws(ArchiveError) {
        guard self.current == nil, !self.isFinished else {
            throw ArchiveError(.invalidUse, message: "`begin` was called before `end` for the previous entry, or after `finish`")
        }
        guard !name.isEmpty, name.utf8.count <= Int(UInt16.max) else {
            throw ArchiveError(.invalidEntry, message: "the name of an entry must have 1 to 65535 bytes, not \(name.utf8.count)")
        }
        let level = compresses ? 6 : 0
        if self.level == level { self.deflater?.reset() } else { (self.deflater, self.level) = (try RawDeflater(level: level), level) }
        // DEFLATE without compression adds 5 bytes to each block of at most 65,535 bytes. zlib uses
        // smaller blocks.
        let (bound, overflows) = maximumSize.addingReportingOverflow(maximumSize / 1_000 + 64)
        let entry = ZIPEntry(
            name: name, time: DOSTime(milliseconds: time), offset: self.offset, maximumSize: maximumSize,
            isLarge: overflows || bound >= UInt64(UInt32.max))
        self.current = entry
        self.append(to: &output) { entry.writeLocalHeader(to: &$0) }
    }

    /// Compresses data of the current entry and appends the result to `output`.
    package mutating func write(_ piece: ByteBuffer, into output: inout ByteBuffer) throws(ArchiveError) {
        guard var entry = self.current, let deflater = self.deflater else {
            throw ArchiveError(.invalidUse, message: "`write` was called without an open entry; call `begin` first")
        }
        entry.size += UInt64(piece.readableBytes)
        guard entry.size <= entry.maximumSize else {
            throw ArchiveError(.invalidEntry, message: "the entry \(entry.name) exceeds its announced size of \(entry.maximumSize) bytes")
        }
        entry.checksum = crc32(entry.checksum, continuedWith: piece)
        try self.deflate(piece, isLast: false, &entry, deflater, &output)
        self.current = entry
    }

    /// Ends the current entry with its data descriptor.
    package mutating func end(into output: inout ByteBuffer) throws(ArchiveError) {
        guard var entry = self.current, let deflater = self.deflater else {
            throw ArchiveError(.invalidUse, message: "`end` was called without an open entry; call `begin` first")
        }
        try self.deflate(ByteBuffer(), isLast: true, &entry, deflater, &output)
        self.append(to: &output) { entry.writeDescriptor(to: &$0) }
        self.entries.append(entry)
        self.current = nil
    }

    /// Ends the archive with the central directory.
    package mutating func finish(into output: inout ByteBuffer) throws(ArchiveError) {
        guard self.current == nil, !self.isFinished else {
            throw ArchiveError(.invalidUse, message: "`finish` was called before `end` for the last entry, or for a second time")
        }
        self.isFinished = true
        self.deflater = nil
        let start = self.offset
        for entry in self.entries { self.append(to: &output) { entry.writeDirectoryHeader(to: &$0) } }
        let end = ZIPDirectoryEnd(count: UInt64(self.entries.count), size: self.offset - start, offset: start)
        self.append(to: &output) { end.write(to: &$0) }
    }

    private mutating func append(to output: inout ByteBuffer, _ write: (inout ByteBuffer) -> Void) {
        let before = output.readableBytes
        write(&output)
        self.offset += UInt64(output.readableBytes - before)
    }

    private mutating func deflate(
        _ piece: ByteBuffer, isLast: Bool, _ entry: inout ZIPEntry, _ deflater: RawDeflater, _ output: inout ByteBuffer
    ) throws(ArchiveError) {
        let before = output.readableBytes
        try deflater.deflate(piece, isLast: isLast, into: &output)
        let count = UInt64(output.readableBytes - before)
        entry.compressedSize += count
        self.offset += count
    }
}

@available(*, unavailable)
extension ZIPWriter: Sendable {}
