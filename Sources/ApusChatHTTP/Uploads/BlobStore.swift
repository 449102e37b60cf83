package import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import ApusPictures
import Crypto
import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Stores the files of complete uploads. Equal files are stored once, under their hash:
/// `blobs/ab/abcd…`. The paths contain no input of a client (docs/hazards.md, 21).
///
/// File operations run on dedicated threads. Pictures are examined one at a time, because each is
/// read into memory.
package final class BlobStore: Sendable {
    let folder: String
    let threads = NIOThreadPool(numberOfThreads: 2)
    private let pictures: NIOThreadPool
    let previews: Previews
    /// The running downloads, each of which holds at most three pieces in memory.
    let downloads = NIOLockedValueBox(ConnectionQuota(maximum: 1_024, maximumPerAddress: 64))
    /// The maximum size of a picture whose metadata is removed, in bytes. Larger pictures are
    /// served as downloads.
    private static let pictureBytes = 32 << 20

    /// - Parameters:
    ///   - folder: The data folder.
    ///   - tools: The programs that make previews.
    package init(folder: String, tools: MediaTools = .none) throws {
        self.previews = try Previews(folder: folder, tools: tools, threads: self.threads)
        self.folder = folder + "/blobs"
        try DurableFile.makeFolder(self.folder)
        try DurableFile.syncFolder(folder)
        self.pictures = NIOThreadPool(numberOfThreads: 1)
        self.threads.start()
        self.pictures.start()
    }

    /// Ends the making of previews, and its processes. Called before `close`.
    package func endPreviews() async { await self.previews.close() }

    /// Ends the threads.
    package func close() {
        try? self.threads.syncShutdownGracefully()
        try? self.pictures.syncShutdownGracefully()
    }

    func path(_ blob: BlobID) -> String { "\(self.folder)/\(blob.rawValue.prefix(2))/\(blob.rawValue)" }

    /// Reads at most `count` bytes of a blob. The file is not kept open between two pieces, so that
    /// a slow client does not hold a descriptor.
    package func piece(of blob: BlobID, from offset: Int64, count: Int) async throws -> ByteBuffer {
        let path = self.path(blob)
        return try await self.threads.runIfActive { try OpenFile(path, O_RDONLY).read(at: offset, count: count) }
    }

    /// The properties of a complete upload before it becomes a blob.
    struct Examined: Sendable {
        var row: BlobRow
        /// The path of the file whose bytes are stored.
        var path: String
    }

    /// Determines the media type, the dimensions and the hash of a complete upload. For a picture,
    /// writes a copy without metadata beside the file.
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
            // A damaged picture is stored as a generic file, which browsers do not render.
            if let cleaned = try? PictureMetadata.removed(from: bytes, of: picture.format) {
                let copy = path + ".clean"
                // The copy of an earlier attempt may already be the file of the blob.
                DurableFile.remove(copy)
                let target = try OpenFile(copy, O_WRONLY | O_CREAT | O_TRUNC)
                try target.write(cleaned, at: 0)
                try target.sync()
                let id = try self.id(of: SHA256.hash(data: cleaned))
                var row = BlobRow(
                    id: id, size: Int64(cleaned.count), type: picture.format.mediaType, width: Int64(picture.width),
                    height: Int64(picture.height), createdAt: time)
                if PictureMetadata.isTurned(cleaned, of: picture.format) { swap(&row.width, &row.height) }
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
        guard let id = BlobID(Secrets.hex(digest)) else {
            throw StorageError(.invalidUse, message: "\(Secrets.hex(digest)) is not a valid blob id.")
        }
        return id
    }

    /// Returns a picture without its metadata, and its media type; nil if the bytes are not a
    /// picture of a supported format.
    package func cleaned(_ bytes: [UInt8]) async throws -> (bytes: [UInt8], type: String)? {
        try await self.pictures.runIfActive {
            guard MediaType.isPicture(Array(bytes.prefix(MediaType.prefixBytes))), let picture = PictureHeader(bytes) else { return nil }
            try Self.requireBoundedPixels(picture)
            guard let cleaned = try? PictureMetadata.removed(from: bytes, of: picture.format) else { return nil }
            return (cleaned, picture.format.mediaType)
        }
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

    /// Gives an examined file the name of its blob. The file is durable when the method returns.
    func keep(_ examined: Examined) async throws {
        try await self.threads.runIfActive { try self.link(examined) }
    }

    /// Gives an examined file the name of its blob, unless a file of this name exists.
    ///
    /// `Uploads.finish` calls it again within the write that adds the row, during which no
    /// collection of unreferenced blobs runs.
    func link(_ examined: Examined) throws {
        let path = self.path(examined.row.id)
        let folder = String(path.dropLast(examined.row.id.rawValue.utf8.count + 1))
        try DurableFile.makeFolder(folder)
        try DurableFile.link(examined.path, as: path)
        try DurableFile.syncFolder(folder)
        try DurableFile.syncFolder(self.folder)
    }
}
