import ApusFramedProtocol
public import NIOCore
import NIOPosix

/// A file as the body of a message: `try await connection.send(body, bodyLength: body.length)`.
///
/// It is read on threads of its own while the pieces before are being sent; at most four of 512 KiB are in memory. Without resumption and
/// without checksums: for those see ``FramedConnection/send(file:as:keepsAttributes:progress:)``.
public struct FramedFileBody: AsyncSequence, Sendable {
    /// A piece.
    public typealias Element = ByteBuffer

    /// The bytes of the file.
    public var length: Int { self.file.status.size }
    private let file: SourceFile

    /// Opens a file. Blocks as long as the disk needs for that.
    ///
    /// - Throws: ``TransferError/Code/source`` when it cannot be read or is no file.
    public init(path: String) throws(TransferError) {
        self.file = try SourceFile(path: path, name: "")
    }

    /// Starts at the beginning.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(file: self.file)) }

    /// Reads on.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: Reader

        fileprivate init(reader: Reader) {
            self.reader = reader
        }

        /// The next piece; `nil` at the end of the file.
        ///
        /// - Throws: ``TransferError/Code/source`` when it cannot be read on, or has become shorter.
        public mutating func next() async throws -> ByteBuffer? {
            guard !self.reader.isAtEnd else { return nil }
            let reader = self.reader
            return try await NIOThreadPool.singleton.runIfActive { try reader.read() }
        }
    }

    /// Reads into memory that is used again once nobody holds the piece that was there: fresh memory for each piece would have the system
    /// clear its pages each time.
    fileprivate final class Reader: @unchecked Sendable {
        // Unchecked because: an iterator is asked for one piece at a time.

        private static let pieceBytes = 512 << 10

        private let file: SourceFile
        private var offset = 0
        private var pieces = [ByteBuffer](repeating: ByteBuffer(), count: 4)
        private var turn = 0

        init(file: SourceFile) {
            self.file = file
        }

        var isAtEnd: Bool { self.offset >= self.file.status.size }

        func read() throws(TransferError) -> ByteBuffer {
            let count = Swift.min(Self.pieceBytes, self.file.status.size - self.offset)
            self.turn = (self.turn + 1) % self.pieces.count
            self.pieces[self.turn].clear()  // gets memory of its own when somebody holds the old piece
            try self.file.append(count, at: self.offset, to: &self.pieces[self.turn])
            self.offset += count
            return self.pieces[self.turn]
        }
    }
}
