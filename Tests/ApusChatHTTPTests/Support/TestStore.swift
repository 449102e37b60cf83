import ApusChatProtocol
import Crypto
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import ApusChatHTTP

/// The implementations of ``BlobStore``, against each of which `BlobStoreTests` runs.
enum StoreKind: CaseIterable, Sendable {
    case folder
}

/// A store in a folder of its own, which is removed with it.
final class TestStore: Sendable {
    let kind: StoreKind
    let folder: String
    let threads = NIOThreadPool(numberOfThreads: 1)
    let store: any BlobStore

    init(_ kind: StoreKind) throws {
        self.kind = kind
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-store-" + UUID().uuidString).path
        try DurableFile.makeFolder(self.folder)
        self.threads.start()
        switch kind {
        case .folder: self.store = try FolderBlobStore(folder: self.folder, threads: self.threads)
        }
    }

    deinit {
        try? self.threads.syncShutdownGracefully()
        try? FileManager.default.removeItem(atPath: self.folder)
    }

    /// Writes a file as an upload does, and returns its path and the id of its content.
    func file(_ bytes: [UInt8], named name: String = "upload") throws -> (path: String, blob: BlobID) {
        let path = self.folder + "/" + name
        DurableFile.remove(path)
        try DurableFile.replace(path, with: bytes, in: self.folder)
        return (path, try #require(BlobID(Secrets.hex(SHA256.hash(data: bytes)))))
    }

    /// Stores bytes.
    func put(_ bytes: [UInt8]) async throws -> BlobID {
        let (path, blob) = try self.file(bytes)
        try await self.store.store(path, size: Int64(bytes.count), as: blob)
        try await self.store.settle(blob)
        return blob
    }

    func bytes(of blob: BlobID, _ range: ClosedRange<Int64>) async throws -> [UInt8] {
        Array(try await self.store.bytes(of: blob, range).collected(upTo: 1 << 30).readableBytesView)
    }
}
