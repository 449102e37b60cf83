public import ApusFramedProtocol
import DequeModule
import NIOConcurrencyHelpers
public import NIOCore

/// A file as the body of a message: `try await connection.send(body, bodyLength: body.length)`.
///
/// A separate thread reads the file ahead while earlier pieces are sent; a few MiB are in memory.
/// This way of sending supports neither resumption nor checksums; use
/// ``FramedConnection/send(file:as:keepsAttributes:progress:)`` for those.
public struct FramedFileBody: AsyncSequence, Sendable {
    /// A piece of the file.
    public typealias Element = ByteBuffer

    /// The length of the file in bytes.
    public var length: Int { self.file.status.size }
    private let file: SourceFile

    /// Opens a file. Blocks until the file is open.
    ///
    /// - Throws: `TransferError.Code.source` when the file cannot be opened or is not a regular
    ///   file.
    public init(path: String) throws(TransferError) {
        self.file = try SourceFile(path: path, name: "")
    }

    /// Returns an iterator that starts at the beginning of the file.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(file: self.file)) }

    /// Reads the file in pieces.
    public struct Iterator: AsyncIteratorProtocol {
        private let reader: Reader

        fileprivate init(reader: Reader) {
            self.reader = reader
        }

        /// Returns the next piece, or `nil` at the end of the file.
        ///
        /// - Throws: `TransferError.Code.source` when the file cannot be read, or has become
        ///   shorter.
        public mutating func next() async throws(TransferError) -> ByteBuffer? { try await self.reader.next() }
    }

    /// Reads ahead into reused memory. The system would have to clear the pages of new memory for
    /// each piece.
    fileprivate final class Reader: Sendable {
        private static let pieceBytes = 512 << 10
        /// The number of pieces that are read ahead.
        private static let ahead = 4

        private struct State: Sendable {
            var ready = Deque<ByteBuffer>()
            /// The number of pieces that are being read.
            var pendingReads = 0
            /// The number of bytes for which reads were submitted.
            var requested = 0
            var failure: TransferError?
            var waiter: CheckedContinuation<Result<ByteBuffer?, TransferError>, Never>?
        }

        private let file: SourceFile
        private let queue = SerialDiskQueue()
        private let memory: NIOLockedValueBox<Memory>
        private let state = NIOLockedValueBox(State())

        init(file: SourceFile) {
            self.file = file
            self.memory = NIOLockedValueBox(Memory(pieces: Self.ahead + 4))
        }

        func next() async throws(TransferError) -> ByteBuffer? {
            let result = await withCheckedContinuation { continuation in
                let (result, reads) = self.state.withLockedValue { state -> (Result<ByteBuffer?, TransferError>?, Int) in
                    let piece = state.ready.popFirst()
                    // Refills when at most half of the pieces remain, so that the thread is not
                    // resumed for each piece.
                    var reads = 0
                    if state.pendingReads + state.ready.count <= Self.ahead / 2 {
                        while state.pendingReads + state.ready.count < Self.ahead, state.requested < self.file.status.size {
                            state.requested += Self.pieceBytes
                            state.pendingReads += 1
                            reads += 1
                        }
                    }
                    if let piece { return (.success(piece), reads) }
                    if let failure = state.failure { return (.failure(failure), 0) }
                    guard state.pendingReads > 0 else { return (.success(nil), 0) }
                    state.waiter = continuation
                    return (nil, reads)
                }
                for _ in 0..<reads { self.queue.submit { self.read() } }
                if let result { continuation.resume(returning: result) }
            }
            return try result.get()
        }

        /// Reads one piece. Runs on the queue.
        private func read() {
            let result = self.memory.withLockedValue { memory in
                Result<ByteBuffer?, TransferError> { () throws(TransferError) in try memory.read(self.file, upTo: Self.pieceBytes) }
            }
            let waiter = self.state.withLockedValue { state in
                state.pendingReads -= 1
                switch result {
                case .success(let piece?) where state.waiter == nil: state.ready.append(piece)
                case .success: break
                case .failure(let error): state.failure = error
                }
                return state.waiter.take()
            }
            waiter?.resume(returning: result)
        }
    }

    /// The position in the file and the reused pieces. The queue of the reader performs one read at
    /// a time.
    fileprivate struct Memory: Sendable {
        private var offset = 0
        private var pieces: [ByteBuffer]
        private var index = 0

        init(pieces: Int) {
            self.pieces = [ByteBuffer](repeating: ByteBuffer(), count: pieces)
        }

        mutating func read(_ file: SourceFile, upTo maximum: Int) throws(TransferError) -> ByteBuffer {
            let count = Swift.min(maximum, file.status.size - self.offset)
            self.index = (self.index + 1) % self.pieces.count
            self.pieces[self.index].clear()  // allocates when the old piece is still referenced
            try file.append(count, at: self.offset, to: &self.pieces[self.index])
            self.offset += count
            return self.pieces[self.index]
        }
    }
}
