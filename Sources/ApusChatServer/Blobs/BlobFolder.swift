import ApusChatProtocol
import Crypto
import Foundation
import NIOCore
import NIOPosix

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

    /// Detects the type of an upload and validates it.
    func judge(_ bytes: ByteBuffer) async throws -> BlobReply {
        try await self.threads.runIfActive { try self.judge(Array(bytes.readableBytesView)) }
    }

    /// Stores a validated upload. The bytes are durable when this method returns.
    func keep(_ bytes: ByteBuffer, as blob: BlobID) async throws {
        try await self.threads.runIfActive { try self.keep(Array(bytes.readableBytesView), as: blob) }
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
        let reply = try self.judge(bytes)
        try self.keep(bytes, as: reply.blob)
        return reply
    }

    private func judge(_ bytes: [UInt8]) throws -> BlobReply {
        guard !bytes.isEmpty else { throw ChatError(.badRequest, message: "the body must not be empty") }
        guard bytes.count <= ChatLimits.blobBytes else {
            throw ChatError(.tooLarge, message: "the body must have at most \(ChatLimits.blobBytes) bytes")
        }
        let sniffed = ImageSniffer.sniff(bytes)
        if let width = sniffed.width, let height = sniffed.height {
            guard width <= ChatLimits.imageSide, height <= ChatLimits.imageSide, Int64(width) * Int64(height) <= ChatLimits.imagePixels
            else {
                throw ChatError(
                    .tooLarge,
                    message: "the picture has \(width) × \(height) pixels; the maximum is \(ChatLimits.imageSide) for each side "
                        + "and \(ChatLimits.imagePixels) in total")
            }
        }
        let blob = BlobID(unchecked: Secrets.hex(SHA256.hash(data: bytes)))
        return BlobReply(blob: blob, size: bytes.count, type: sniffed.type, width: sniffed.width, height: sniffed.height)
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
