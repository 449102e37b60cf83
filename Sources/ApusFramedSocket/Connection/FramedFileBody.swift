import ApusFramedProtocol
import DequeModule
import NIOConcurrencyHelpers
public import NIOCore

/// A file as the body of a message: `try await connection.send(body, bodyLength: body.length)`.
///
/// It is read ahead on a thread of its own while the pieces before are being sent; a few MiB of it are in memory. Without resumption and without
/// checksums: for those see ``FramedConnection/send(file:as:keepsAttributes:progress:)``.
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
        public mutating func next() async throws -> ByteBuffer? { try await self.reader.next() }
    }

    /// Reads ahead, into memory that is used again once nobody holds the piece that was there: fresh memory for each piece would have the system
    /// clear its pages each time.
    fileprivate final class Reader: Sendable {
        private static let pieceBytes = 512 << 10
        /// Pieces that are read and not taken.
        private static let ahead = 4

        private struct State: Sendable {
            var ready = Deque<ByteBuffer>()
            /// Pieces that are still to be read.
            var wanted = 0
            /// What was asked to be read, in all.
            var requested = 0
            var failure: (any Error)?
            var waiter: CheckedContinuation<ByteBuffer?, any Error>?
        }

        private let file: SourceFile
        private let lane = SerialDiskQueue()
        private let memory: Memory
        private let state = NIOLockedValueBox(State())

        init(file: SourceFile) {
            self.file = file
            self.memory = Memory(pieces: Self.ahead + 4)
        }

        func next() async throws -> ByteBuffer? {
            try await withCheckedThrowingContinuation { continuation in
                let (result, reads) = self.state.withLockedValue { state -> (Result<ByteBuffer?, any Error>?, Int) in
                    let piece = state.ready.popFirst()
                    // Half of it at a time, so that the thread is not woken for every piece.
                    var reads = 0
                    if state.wanted + state.ready.count <= Self.ahead / 2 {
                        while state.wanted + state.ready.count < Self.ahead, state.requested < self.file.status.size {
                            state.requested += Self.pieceBytes
                            state.wanted += 1
                            reads += 1
                        }
                    }
                    if let piece { return (.success(piece), reads) }
                    if let failure = state.failure { return (.failure(failure), 0) }
                    guard state.wanted > 0 else { return (.success(nil), 0) }
                    state.waiter = continuation
                    return (nil, reads)
                }
                for _ in 0..<reads { self.lane.submit { self.read() } }
                if let result { continuation.resume(with: result) }
            }
        }

        /// On the lane.
        private func read() {
            let result = Result<ByteBuffer?, any Error> { try self.memory.read(self.file, upTo: Self.pieceBytes) }
            let waiter = self.state.withLockedValue { state in
                state.wanted -= 1
                switch result {
                case .success(let piece?) where state.waiter == nil: state.ready.append(piece)
                case .success: break
                case .failure(let error): state.failure = error
                }
                return state.waiter.take()
            }
            waiter?.resume(with: result)
        }
    }

    /// The place in the file, and the pieces that were read. Touched on the reader's lane only.
    fileprivate final class Memory: @unchecked Sendable {
        // Unchecked because: a lane does one thing at a time.

        private var offset = 0
        private var pieces: [ByteBuffer]
        private var turn = 0

        init(pieces: Int) {
            self.pieces = [ByteBuffer](repeating: ByteBuffer(), count: pieces)
        }

        func read(_ file: SourceFile, upTo most: Int) throws(TransferError) -> ByteBuffer {
            let count = Swift.min(most, file.status.size - self.offset)
            self.turn = (self.turn + 1) % self.pieces.count
            self.pieces[self.turn].clear()  // gets memory of its own when somebody holds the old piece
            try file.append(count, at: self.offset, to: &self.pieces[self.turn])
            self.offset += count
            return self.pieces[self.turn]
        }
    }
}
