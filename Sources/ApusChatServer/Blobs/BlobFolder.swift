import ApusChatProtocol
import Crypto
import Foundation
import NIOPosix

/// The bytes of uploads, each stored once under its hash: `blobs/ab/abcd…`. The name is the server's, nothing of the client's gets into a path (hazard 21).
///
/// Everything here blocks, and runs on threads of its own.
final class BlobFolder: Sendable {
    private let folder: String
    private let threads: NIOThreadPool

    init(directory: String) throws {
        self.folder = directory + "/blobs"
        try FileManager.default.createDirectory(
            atPath: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.threads = NIOThreadPool(numberOfThreads: 2)
        self.threads.start()
    }

    func close() { try? self.threads.syncShutdownGracefully() }

    /// Judges and keeps an upload. When it returns the bytes are on the disk.
    func store(_ bytes: [UInt8]) async throws -> BlobReply {
        try await self.threads.runIfActive { try self.write(bytes) }
    }

    /// The bytes of a blob that the database knows.
    func load(_ blob: BlobID) async throws -> [UInt8] {
        try await self.threads.runIfActive {
            guard let data = FileManager.default.contents(atPath: self.path(blob)) else {
                throw ChatError(.storage, message: "the server lost the bytes of this blob")
            }
            return [UInt8](data)
        }
    }

    /// Judges and keeps an upload, on the caller's thread.
    func write(_ bytes: [UInt8]) throws -> BlobReply {
        guard !bytes.isEmpty else { throw ChatError(.badRequest, message: "the body is empty") }
        guard bytes.count <= ChatLimits.blobBytes else { throw ChatError(.tooLarge, message: "at most \(ChatLimits.blobBytes) bytes") }
        let sniffed = ImageSniffer.sniff(bytes)
        if let width = sniffed.width, let height = sniffed.height {
            guard width <= ChatLimits.imageSide, height <= ChatLimits.imageSide, Int64(width) * Int64(height) <= ChatLimits.imagePixels
            else {
                throw ChatError(
                    .tooLarge,
                    message: "\(width) × \(height) pixels; at most \(ChatLimits.imageSide) a side and \(ChatLimits.imagePixels) in all")
            }
        }
        let blob = BlobID(unchecked: Secrets.hex(SHA256.hash(data: bytes)))
        try self.keep(bytes, as: blob)
        return BlobReply(blob: blob, size: bytes.count, type: sniffed.type, width: sniffed.width, height: sniffed.height)
    }

    private func path(_ blob: BlobID) -> String { "\(self.folder)/\(blob.rawValue.prefix(2))/\(blob.rawValue)" }

    /// Written beside, synced, renamed, and the folder synced: after a power cut there is the whole file or none.
    private func keep(_ bytes: [UInt8], as blob: BlobID) throws {
        let final = self.path(blob)
        if FileManager.default.fileExists(atPath: final) { return }  // stored once; the name is the content
        let folder = (final as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let part = "\(final).\(Secrets.newID()).part"
        do {
            try DurableFile.write(bytes, to: part)
            try DurableFile.rename(part, to: final)
            try DurableFile.syncFolder(folder)
            try DurableFile.syncFolder(self.folder)
        } catch {
            DurableFile.remove(part)
            throw error
        }
    }
}
