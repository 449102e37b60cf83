import ApusChatProtocol
import ApusPictures
import Crypto
import Foundation
import NIOCore
import NIOPosix

/// A validated upload: its bytes as they are stored, and their properties.
struct ExaminedUpload: Sendable {
    let reply: BlobReply
    let bytes: [UInt8]
}

/// The files of uploads, each stored once under its hash: `blobs/ab/abcd…`. Paths contain no input
/// of the client (docs/hazards.md, 21).
///
/// File operations block and run on separate threads.
final class BlobFolder: Sendable {
    private let folder: String
    private let threads: NIOThreadPool
    /// Syncs a folder. Tests replace it to observe the calls.
    private let syncFolder: @Sendable (String) throws -> Void

    init(directory: String, syncFolder: @escaping @Sendable (String) throws -> Void = DurableFile.syncFolder) throws {
        self.folder = directory + "/blobs"
        self.syncFolder = syncFolder
        try FileManager.default.createDirectory(
            atPath: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try syncFolder(directory)
        self.threads = NIOThreadPool(numberOfThreads: 2)
        self.threads.start()
    }

    func close() { try? self.threads.syncShutdownGracefully() }

    /// Detects the type of an upload, validates it, and removes the metadata of a picture.
    func examine(_ bytes: ByteBuffer) async throws -> ExaminedUpload {
        try await self.threads.runIfActive { try self.examine(Array(bytes.readableBytesView)) }
    }

    /// Stores a validated upload. The bytes are durable when this method returns.
    func keep(_ upload: ExaminedUpload) async throws {
        try await self.threads.runIfActive { try self.keep(upload.bytes, as: upload.reply.blob) }
    }

    /// Reads at most `count` bytes of a stored blob, from `offset` on. The file is closed between
    /// two pieces, so that a slow client does not hold a descriptor.
    func piece(of blob: BlobID, from offset: Int, count: Int) async throws -> ByteBuffer {
        try await self.threads.runIfActive {
            guard let piece = DurableFile.read(self.path(blob), from: offset, count: count) else { throw Self.lost }
            return piece
        }
    }

    private static let lost = ChatError(.storage, message: "the server has lost the bytes of this blob")

    /// Validates and stores an upload on the caller's thread.
    func write(_ bytes: [UInt8]) throws -> BlobReply {
        let upload = try self.examine(bytes)
        try self.keep(upload.bytes, as: upload.reply.blob)
        return upload.reply
    }

    private func examine(_ bytes: [UInt8]) throws -> ExaminedUpload {
        guard !bytes.isEmpty else { throw ChatError(.badRequest, message: "the body must not be empty") }
        guard bytes.count <= ChatLimits.blobBytes else {
            throw ChatError(.tooLarge, message: "the body must have at most \(ChatLimits.blobBytes) bytes")
        }
        let picture = PictureHeader(bytes)
        if let picture { try Self.requireBoundedPixels(picture) }
        // A damaged picture is stored as a file, which browsers do not render.
        guard let picture, let cleaned = try? PictureMetadata.removed(from: bytes, of: picture.format) else {
            return ExaminedUpload(reply: Self.reply(bytes, type: "application/octet-stream", picture: nil), bytes: bytes)
        }
        return ExaminedUpload(reply: Self.reply(cleaned, type: picture.format.mediaType, picture: picture), bytes: cleaned)
    }

    private static func reply(_ bytes: [UInt8], type: String, picture: PictureHeader?) -> BlobReply {
        let blob = BlobID(unchecked: Secrets.hex(SHA256.hash(data: bytes)))
        return BlobReply(blob: blob, size: bytes.count, type: type, width: picture?.width, height: picture?.height)
    }

    private static func requireBoundedPixels(_ picture: PictureHeader) throws(ChatError) {
        guard picture.width <= ChatLimits.imageSide, picture.height <= ChatLimits.imageSide,
            Int64(picture.width) * Int64(picture.height) <= ChatLimits.imagePixels
        else {
            throw ChatError(
                .tooLarge,
                message: "the picture has \(picture.width) × \(picture.height) pixels; the maximum is \(ChatLimits.imageSide) for each "
                    + "side and \(ChatLimits.imagePixels) in total")
        }
    }

    private func path(_ blob: BlobID) -> String { "\(self.folder)/\(blob.rawValue.prefix(2))/\(blob.rawValue)" }

    /// Writes and syncs a temporary file, renames it and syncs the folder. A power failure leaves
    /// either the whole file or none.
    private func keep(_ bytes: [UInt8], as blob: BlobID) throws {
        let final = self.path(blob)
        let folder = (final as NSString).deletingLastPathComponent
        if FileManager.default.fileExists(atPath: final) {
            // The file exists, but its name may not be synced yet.
            return try self.syncNames(in: folder)
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let part = "\(final).\(Secrets.newID()).part"
        do {
            try DurableFile.write(bytes, to: part)
            try DurableFile.rename(part, to: final)
            try self.syncNames(in: folder)
        } catch {
            DurableFile.remove(part)
            throw error
        }
    }

    private func syncNames(in folder: String) throws {
        try self.syncFolder(folder)
        try self.syncFolder(self.folder)
    }
}
