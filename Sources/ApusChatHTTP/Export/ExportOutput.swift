import ApusArchive
import ApusJSON
import NIOCore

/// Builds an archive, and passes its bytes on in pieces of a fixed size.
struct ExportOutput {
    private var archive = ZIPWriter()
    private var buffer = ByteBuffer()
    private let time: Int64
    /// The number of uncompressed bytes in the current entry.
    private(set) var entryBytes = 0

    /// The size of a piece, in bytes.
    private static let pieceBytes = 64 << 10
    /// The maximum size of an entry of lines, in bytes. A longer entry causes an error instead of a
    /// damaged archive.
    private static let lineEntryBytes: UInt64 = 3 << 30

    /// - Parameter time: The time of entries without a time of their own, in milliseconds since
    ///   1970.
    init(time: Int64) { self.time = time }

    /// Begins an entry of text, which is compressed.
    mutating func begin(_ name: String) throws {
        self.entryBytes = 0
        try self.archive.begin(name, time: self.time, maximumSize: Self.lineEntryBytes, compresses: true, into: &self.buffer)
    }

    /// Begins an entry of a known size, whose content is already compressed.
    mutating func begin(_ name: String, size: Int64, at time: Int64) throws {
        self.entryBytes = 0
        try self.archive.begin(name, time: time, maximumSize: UInt64(max(0, size)), compresses: false, into: &self.buffer)
    }

    mutating func write(_ bytes: ByteBuffer, _ emit: (ByteBuffer) async throws -> Void) async throws {
        self.entryBytes += bytes.readableBytes
        try self.archive.write(bytes, into: &self.buffer)
        if self.buffer.readableBytes >= Self.pieceBytes { try await self.flush(emit) }
    }

    /// Writes JSON values, one on each line.
    mutating func write(_ values: [JSONValue], _ emit: (ByteBuffer) async throws -> Void) async throws {
        for value in values { try await self.write(ByteBuffer(bytes: try JSONWriter.bytes(of: value) + [0x0A]), emit) }
    }

    mutating func end(_ emit: (ByteBuffer) async throws -> Void) async throws {
        try self.archive.end(into: &self.buffer)
        if self.buffer.readableBytes >= Self.pieceBytes { try await self.flush(emit) }
    }

    /// Adds an entry of JSON values, one on each line.
    mutating func add(_ name: String, lines: [JSONValue], _ emit: (ByteBuffer) async throws -> Void) async throws {
        try self.begin(name)
        try await self.write(lines, emit)
        try await self.end(emit)
    }

    /// Adds an entry with a text.
    mutating func add(_ name: String, text: String, _ emit: (ByteBuffer) async throws -> Void) async throws {
        try self.begin(name)
        try await self.write(ByteBuffer(string: text), emit)
        try await self.end(emit)
    }

    /// Ends the archive.
    mutating func finish(_ emit: (ByteBuffer) async throws -> Void) async throws {
        try self.archive.finish(into: &self.buffer)
        try await self.flush(emit)
    }

    private mutating func flush(_ emit: (ByteBuffer) async throws -> Void) async throws {
        let piece = self.buffer
        self.buffer = ByteBuffer()
        try await emit(piece)
    }
}
