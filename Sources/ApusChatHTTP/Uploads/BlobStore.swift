import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import ApusPictures
import Crypto
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The files of finished uploads, each stored once under its hash: `blobs/ab/abcd…`. Paths contain
/// no input of a client (docs/hazards.md, 21).
///
/// File operations block and run on threads of their own. Pictures are examined one at a time,
/// because one is held in memory.
package final class BlobStore: Sendable {
    let folder: String
    let threads: NIOThreadPool
    private let pictures: NIOThreadPool
    /// The downloads under way: each holds up to three pieces until the client reads them.
    let downloads = NIOLockedValueBox(ConnectionQuota(maximum: 1_024, maximumPerAddress: 64))
    /// The maximum size of a picture whose metadata is removed. Larger files are served as
    /// downloads.
    private static let pictureBytes = 32 << 20

    /// - Parameter folder: The data folder.
    package init(folder: String) throws {
        self.folder = folder + "/blobs"
        try DurableFile.makeFolder(self.folder)
        try DurableFile.syncFolder(folder)
        self.threads = NIOThreadPool(numberOfThreads: 2)
        self.pictures = NIOThreadPool(numberOfThreads: 1)
        self.threads.start()
        self.pictures.start()
    }

    /// Ends the threads.
    package func close() {
        try? self.threads.syncShutdownGracefully()
        try? self.pictures.syncShutdownGracefully()
    }

    func path(_ blob: BlobID) -> String { "\(self.folder)/\(blob.rawValue.prefix(2))/\(blob.rawValue)" }

    /// Reads at most `count` bytes of a blob. The file is closed between two pieces, so that a slow
    /// client does not hold a descriptor.
    func piece(of blob: BlobID, from offset: Int64, count: Int) async throws -> ByteBuffer {
        let path = self.path(blob)
        return try await self.threads.runIfActive { try OpenFile(path, O_RDONLY).read(at: offset, count: count) }
    }

    /// What is known of a file before it becomes a blob.
    struct Examined: Sendable {
        var row: BlobRow
        /// The file with the bytes that are stored.
        var path: String
    }

    /// Examines a complete upload: its type, the size of a picture, and its hash. Writes a copy
    /// without metadata beside a picture.
    func examine(_ path: String, at time: Int64) async throws -> Examined {
        try await self.pictures.runIfActive { try Self.examined(path, at: time) }
    }

    private static func examined(_ path: String, at time: Int64) throws -> Examined {
        let file = try OpenFile(path, O_RDONLY)
        let size = try file.size()
        let start = try file.read(at: 0, count: MediaType.prefixBytes)
        if size <= Self.pictureBytes, MediaType.isPicture(Array(start.readableBytesView)),
            let bytes = DurableFile.bytes(of: path, upTo: Self.pictureBytes), let picture = PictureHeader(bytes)
        {
            try self.requireBoundedPixels(picture)
            // A damaged picture is stored as a file, which browsers do not render.
            if let cleaned = try? PictureMetadata.removed(from: bytes, of: picture.format) {
                let copy = path + ".clean"
                // The file of an earlier attempt can be the blob by now.
                DurableFile.remove(copy)
                let target = try OpenFile(copy, O_WRONLY | O_CREAT | O_TRUNC)
                try target.write(cleaned, at: 0)
                try target.sync()
                let id = try self.id(of: SHA256.hash(data: cleaned))
                let row = BlobRow(
                    id: id, size: Int64(cleaned.count), type: picture.format.mediaType, width: Int64(picture.width),
                    height: Int64(picture.height), createdAt: time)
                return Examined(row: row, path: copy)
            }
        }
        var hash = SHA256()
        var offset: Int64 = 0
        while offset < size {
            let piece = try file.read(at: offset, count: 1 << 20)
            guard piece.readableBytes > 0 else { break }
            hash.update(data: piece.readableBytesView)
            offset += Int64(piece.readableBytes)
        }
        let row = BlobRow(
            id: try self.id(of: hash.finalize()), size: size, type: MediaType.sniffed(Array(start.readableBytesView)), createdAt: time)
        return Examined(row: row, path: path)
    }

    private static func id(of digest: SHA256.Digest) throws -> BlobID {
        guard let id = BlobID(Secrets.hex(digest)) else { throw StorageError(.misuse, message: "A hash is no name of a blob.") }
        return id
    }

    private static func requireBoundedPixels(_ picture: PictureHeader) throws(ChatError) {
        guard picture.width <= ChatLimits.imageSide, picture.height <= ChatLimits.imageSide,
            Int64(picture.width) * Int64(picture.height) <= ChatLimits.imagePixels
        else {
            throw ChatError(
                .tooLarge,
                message: "The picture has \(picture.width) × \(picture.height) pixels. The maximum is \(ChatLimits.imageSide) for each "
                    + "side and \(ChatLimits.imagePixels) in total.")
        }
    }

    /// Gives an examined file its name. The bytes are durable when the method returns.
    func keep(_ examined: Examined) async throws {
        try await self.threads.runIfActive { try self.link(examined) }
    }

    /// Gives an examined file its name again if a collection has removed it in between.
    ///
    /// Called within the write that adds the row, which no collection can come between.
    func link(_ examined: Examined) throws {
        let path = self.path(examined.row.id)
        let folder = String(path.dropLast(examined.row.id.rawValue.utf8.count + 1))
        try DurableFile.makeFolder(folder)
        try DurableFile.link(examined.path, as: path)
        try DurableFile.syncFolder(folder)
        try DurableFile.syncFolder(self.folder)
    }
}
