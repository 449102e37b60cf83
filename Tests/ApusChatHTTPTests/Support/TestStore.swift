import ApusChatProtocol
import ApusS3
import Crypto
import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testing

@testable import ApusChatHTTP

/// The implementations of ``BlobStore``. `BlobStoreTests` runs with each.
enum StoreKind: CaseIterable, Sendable {
    case folder
    case s3
}

/// A store in a temporary folder, which is removed when the object is released.
final class TestStore: Sendable {
    let kind: StoreKind
    let folder: String
    let threads = NIOThreadPool(numberOfThreads: 1)
    let store: any BlobStore
    /// The peer of a store in S3.
    let s3 = MemoryS3()
    /// The requested pauses before repeated requests.
    let pauses = NIOLockedValueBox<[Duration]>([])

    init(_ kind: StoreKind) throws {
        self.kind = kind
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-store-" + UUID().uuidString).path
        try DurableFile.makeFolder(self.folder)
        self.threads.start()
        switch kind {
        case .folder: self.store = try FolderBlobStore(folder: self.folder, threads: self.threads)
        case .s3: self.store = try Self.store(self.s3, self.folder, self.threads, self.pauses)
        }
    }

    private static func store(
        _ s3: MemoryS3, _ folder: String, _ threads: NIOThreadPool, _ pauses: NIOLockedValueBox<[Duration]>
    ) throws -> S3BlobStore {
        try S3BlobStore(
            folder: folder, client: try s3.client { pause in pauses.withLockedValue { $0.append(pause) } }, threads: threads,
            partBytes: S3PartPlan.minimumBytes, logger: .quiet)
    }

    /// Returns a further store with the same data, as after a restart of the program.
    func again() throws -> any BlobStore {
        switch self.kind {
        case .folder: try FolderBlobStore(folder: self.folder, threads: self.threads)
        case .s3: try Self.store(self.s3, self.folder, self.threads, self.pauses)
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

    /// Stores bytes and settles their blob, and returns its id.
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

extension MemoryS3 {
    /// Returns a client of this store.
    ///
    /// - Parameter pause: Called in place of each pause.
    func client(pause: @escaping @Sendable (Duration) -> Void = { _ in }) throws -> S3Client {
        S3Client(
            location: try S3Location(url: "s3://bucket/chat", endpoint: "http://127.0.0.1", region: "us-east-1"),
            credentials: S3Credentials(id: "id", secret: "secret"), transport: self, now: { 1_700_000_000_000 }, sleep: { pause($0) })
    }
}

extension Logger {
    /// A logger without output.
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
