package import NIOCore

/// The bytes of a blob or of a part of it, in pieces. Each piece is read when the consumer requests
/// it.
package struct BlobBytes: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var nextPiece: () async throws -> ByteBuffer?

        package mutating func next() async throws -> ByteBuffer? { try await self.nextPiece() }
    }

    private let makeNext: @Sendable () -> () async throws -> ByteBuffer?

    /// - Parameter makeNext: A function that returns a closure. The closure returns the next piece,
    ///   and nil at the end.
    init(_ makeNext: @escaping @Sendable () -> () async throws -> ByteBuffer?) { self.makeNext = makeNext }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(nextPiece: self.makeNext()) }

    /// Creates a sequence of bytes in memory.
    init(_ bytes: ByteBuffer) {
        self.init {
            var rest: ByteBuffer? = bytes.readableBytes > 0 ? bytes : nil
            return {
                defer { rest = nil }
                return rest
            }
        }
    }

    /// Returns at most `count` bytes from the start.
    func collected(upTo count: Int) async throws -> ByteBuffer {
        var all = ByteBuffer()
        for try await var piece in self {
            guard all.readableBytes + piece.readableBytes < count else {
                if let last = piece.readSlice(length: count - all.readableBytes) { all.writeImmutableBuffer(last) }
                break
            }
            all.writeBuffer(&piece)
        }
        return all
    }
}
