package import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import ApusPictures
import Crypto
import NIOConcurrencyHelpers
package import NIOCore
package import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Examines complete uploads, passes their bytes to a store, and serves them. Equal files are
/// stored once, under their hash.
///
/// File operations run on dedicated threads. Pictures are examined one at a time, because each is
/// read into memory.
package final class BlobFiles: Sendable {
    let store: any BlobStore
    let claims = BlobClaims()
    let threads: NIOThreadPool
    private let pictures: NIOThreadPool
    let previews: Previews
    /// The running downloads. Each download keeps at most three pieces in memory.
    let downloads = NIOLockedValueBox(ConnectionQuota(maximum: 1_024, maximumPerAddress: 64))
    /// The maximum size of a picture whose metadata is removed, in bytes. Larger pictures are
    /// served as downloads.
    private static let pictureBytes = 32 << 20

    /// - Parameters:
    ///   - folder: The data folder.
    ///   - tools: The programs that make previews.
    ///   - makeStore: A function that returns the store of the bytes. The store may run its work on
    ///     the given thread pool. Default: files in the folder.
    package init(
        folder: String, tools: MediaTools = .none, makeStore: ((NIOThreadPool) throws -> any BlobStore)? = nil
    ) throws {
        let threads = NIOThreadPool(numberOfThreads: 2)
        self.threads = threads
        self.previews = try Previews(folder: folder, tools: tools, threads: threads)
        self.store = try makeStore?(threads) ?? FolderBlobStore(folder: folder, threads: threads)
        self.pictures = NIOThreadPool(numberOfThreads: 1)
        self.threads.start()
        self.pictures.start()
    }

    /// Stops the creation of previews and its processes, and the work of the store. Called before
    /// `close`.
    package func endWork() async {
        await self.previews.close()
        await self.store.close()
    }

    /// Ends the threads.
    package func close() {
        try? self.threads.syncShutdownGracefully()
        try? self.pictures.syncShutdownGracefully()
    }

    /// Returns at most `count` bytes from the start of a blob.
    package func prefix(of blob: BlobID, upTo count: Int) async throws -> ByteBuffer {
        try await self.store.bytes(of: blob, 0...Int64(max(1, count)) - 1).collected(upTo: count)
    }

    /// The properties of a complete upload before it becomes a blob.
    struct Examined: Sendable {
        var row: BlobRow
        /// The path of the file whose bytes are stored.
        var path: String
    }

    /// Determines the media type, the dimensions and the hash of a complete upload. For a picture,
    /// writes a copy without metadata beside the file. Overwrites the metadata of a film in the
    /// file.
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
        var type = MediaType.sniffed(Array(start.readableBytesView))
        if let format = FilmFormat(mediaType: type) {
            do {
                try self.removeMetadata(of: path, format, size: size)
            } catch is DamagedFilm {
                // A damaged film is stored as a generic file, which browsers do not play.
                type = MediaType.other
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
        let row = BlobRow(id: try self.id(of: hash.finalize()), size: size, type: type, createdAt: time)
        return Examined(row: row, path: path)
    }

    /// Overwrites the metadata of a film. A repetition after an interruption has the same result,
    /// even if the file is already the file of the blob.
    private static func removeMetadata(of path: String, _ format: FilmFormat, size: Int64) throws {
        let file = try OpenFile(path, O_RDWR)
        let changes = try FilmMetadata.changes(in: format, size: size) { offset, count in
            Array(try file.read(at: offset, count: count).readableBytesView)
        }
        guard !changes.isEmpty else { return }
        let zeros = [UInt8](repeating: 0, count: 64 << 10)
        for change in changes {
            try file.write(change.bytes, at: change.offset)
            var offset = change.offset + Int64(change.bytes.count)
            let end = offset + change.zeros
            while offset < end {
                let count = Int(min(Int64(zeros.count), end - offset))
                try file.write(Array(zeros.prefix(count)), at: offset)
                offset += Int64(count)
            }
        }
        try file.sync()
    }

    private static func id(of digest: SHA256.Digest) throws -> BlobID {
        guard let id = BlobID(Secrets.hex(digest)) else {
            throw StorageError(.invalidUse, message: "\(Secrets.hex(digest)) is not a valid blob id")
        }
        return id
    }

    /// Returns a picture without its metadata, and its media type; nil if the bytes are not a
    /// picture of a supported format, or the picture is damaged.
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
}
