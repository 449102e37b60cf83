import ApusChatStorage
import Crypto
import NIOCore
import NIOPosix

/// A part of a file, which is read in pieces.
struct FilePieces: Sendable {
    private static let pieceBytes: Int64 = 256 << 10

    let file: OpenFile
    let offset: Int64
    let size: Int64
    let threads: NIOThreadPool

    /// The bytes, which can be read several times.
    var bytes: BlobBytes {
        let (file, threads, end) = (self.file, self.threads, self.offset + self.size)
        let start = self.offset
        return BlobBytes {
            var offset = start
            return {
                guard offset < end else { return nil }
                let (from, count) = (offset, Int(min(Self.pieceBytes, end - offset)))
                let piece = try await threads.runIfActive { try file.read(at: from, count: count) }
                guard piece.readableBytes == count else {
                    throw StorageError(
                        .corrupt,
                        message:
                            "a file of the data folder ended at byte \(from + Int64(piece.readableBytes)) of \(end) while it was copied to the object store; no other program may change the data folder"
                    )
                }
                offset += Int64(count)
                return piece
            }
        }
    }

    var body: S3Body { .stream(self.bytes, size: self.size) }

    /// Returns the SHA-256 of the bytes in hexadecimal.
    func hash() async throws -> String {
        var hash = PieceHash()
        for try await piece in self.bytes { hash.update(piece) }
        return hash.text
    }
}

/// Computes the SHA-256 of consecutive pieces.
struct PieceHash {
    private var hash = SHA256()

    mutating func update(_ piece: ByteBuffer) { self.hash.update(data: piece.readableBytesView) }

    /// The hash in hexadecimal.
    var text: String { Secrets.hex(self.hash.finalize()) }
}
