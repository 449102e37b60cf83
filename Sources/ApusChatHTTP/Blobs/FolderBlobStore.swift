package import ApusChatProtocol
import ApusChatStorage
import NIOCore
package import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Keeps blobs as files: `blobs/ab/abcd…`. The paths contain no input of a client
/// (docs/hazards.md, 21). `blobs/unsettled` records the files whose rows may be missing.
package struct FolderBlobStore: BlobStore {
    private static let pieceBytes = 64 << 10
    let folder: String
    private let threads: NIOThreadPool
    private let journal: BlobJournal

    /// - Parameters:
    ///   - folder: The data folder.
    ///   - threads: The threads for file operations.
    package init(folder: String, threads: NIOThreadPool) throws {
        self.folder = folder + "/blobs"
        self.threads = threads
        try DurableFile.makeFolder(self.folder)
        try DurableFile.syncFolder(folder)
        self.journal = try BlobJournal("unsettled", in: self.folder)
    }

    private func file(_ blob: BlobID) -> String { "\(self.folder)/\(blob.rawValue.prefix(2))/\(blob.rawValue)" }

    package func path(of blob: BlobID) -> String? { self.file(blob) }

    /// Stores a file of the data folder under a second name, without a copy.
    package func store(_ path: String, size: Int64, as blob: BlobID) async throws {
        try await self.threads.runIfActive {
            let file = self.file(blob)
            let folder = String(file.dropLast(blob.rawValue.utf8.count + 1))
            try DurableFile.makeFolder(folder)
            try self.journal.note(blob)
            try DurableFile.link(path, as: file)
            try DurableFile.syncFolder(folder)
            try DurableFile.syncFolder(self.folder)
        }
    }

    /// Returns the bytes of a range. The file is not kept open between two pieces, so that a slow
    /// client does not occupy a descriptor.
    package func bytes(of blob: BlobID, _ range: ClosedRange<Int64>) async throws -> BlobBytes {
        let path = self.file(blob)
        let threads = self.threads
        @Sendable func piece(_ offset: Int64) async throws -> ByteBuffer {
            let count = Int(min(Int64(Self.pieceBytes), range.upperBound - offset + 1))
            return try await threads.runIfActive { try OpenFile(path, O_RDONLY).read(at: offset, count: count) }
        }
        let first = try await piece(range.lowerBound)
        guard first.readableBytes > 0 else { throw StorageError(.corrupt, message: "\(path) has no byte \(range.lowerBound)") }
        return BlobBytes {
            var offset = range.lowerBound
            return {
                guard offset <= range.upperBound else { return nil }
                let next = offset == range.lowerBound ? first : try await piece(offset)
                guard next.readableBytes > 0 else { return nil }
                offset += Int64(next.readableBytes)
                return next
            }
        }
    }

    package func remove(_ blob: BlobID) async throws {
        try await self.threads.runIfActive { DurableFile.remove(self.file(blob)) }
    }

    package func willRemove(_ blob: BlobID) async throws { try await self.threads.runIfActive { try self.journal.add(blob) } }

    package func settle(_ blob: BlobID) async throws { try await self.threads.runIfActive { self.journal.remove(blob) } }

    package func unsettled() async throws -> [BlobID] { try await self.threads.runIfActive { try self.journal.blobs() } }
}
