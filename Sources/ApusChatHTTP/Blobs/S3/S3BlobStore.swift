package import ApusChatProtocol
import ApusChatStorage
import ApusS3
package import Logging
import NIOCore
package import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Keeps blobs as objects of a bucket: `PREFIX/ab/abcd…`, as ``FolderBlobStore`` names files.
///
/// A file is copied in pieces, so that its size does not determine the memory in use. Until the
/// copy is complete, only this machine has the bytes, in the file of the upload.
package final class S3BlobStore: BlobStore {
    private let client: S3Client
    private let journal: BlobJournal
    private let threads: NIOThreadPool
    private let partBytes: Int64
    private let logger: Logger

    /// - Parameters:
    ///   - folder: The data folder, for the records of unfinished work.
    ///   - partBytes: The size of the parts of larger objects, in bytes.
    package init(
        folder: String, client: S3Client, threads: NIOThreadPool, partBytes: Int64 = S3PartPlan.usualBytes, logger: Logger
    ) throws {
        self.client = client
        self.journal = try BlobJournal("objects", in: folder)
        self.threads = threads
        self.partBytes = partBytes
        self.logger = logger
    }

    private static func key(_ blob: BlobID) -> String { "\(blob.rawValue.prefix(2))/\(blob.rawValue)" }

    package func path(of blob: BlobID) -> String? { nil }

    package func close() async { await self.client.transport.close() }

    // MARK: Objects

    package func store(_ path: String, size: Int64, as blob: BlobID) async throws {
        // The file stays open, so that its removal does not interrupt the copy.
        let (file, unfinished) = try await self.threads.runIfActive {
            let file = try OpenFile(path, O_RDONLY)
            let unfinished = self.journal.upload(of: blob)
            if unfinished == nil { try self.journal.add(blob) }
            return (file, unfinished)
        }
        try await self.reaching {
            if let unfinished { try await self.abort(unfinished, of: blob) }
            guard try await self.client.size(of: Self.key(blob)) != size else { return }
            let plan = S3PartPlan(size: size, usual: self.partBytes)
            if plan.count == 1 {
                try await self.client.put(Self.key(blob), FilePieces(file: file, offset: 0, size: size, threads: self.threads))
            } else {
                try await self.store(file, in: plan, as: blob)
            }
        }
    }

    private func store(_ file: OpenFile, in plan: S3PartPlan, as blob: BlobID) async throws {
        let key = Self.key(blob)
        let upload = try await self.client.beginUpload(key)
        do {
            try await self.threads.runIfActive { try self.journal.add(blob, upload: upload) }
            var tags: [String] = []
            for part in plan.parts {
                let content = FilePieces(file: file, offset: part.offset, size: part.size, threads: self.threads)
                tags.append(try await self.client.upload(part.number, of: upload, key, content))
            }
            do {
                try await self.client.completeUpload(key, upload, tags: tags)
            } catch let error as S3Error where error.code == .missing {
                // The response to an earlier attempt was lost.
                guard try await self.client.size(of: key) == plan.size else { throw error }
            }
            try await self.threads.runIfActive { try self.journal.add(blob) }
        } catch {
            // If the store cannot be reached, the record of the upload is kept.
            try? await self.abort(upload, of: blob)
            throw error
        }
    }

    private func abort(_ upload: String, of blob: BlobID) async throws {
        try await self.client.abortUpload(Self.key(blob), upload)
        try await self.threads.runIfActive { try self.journal.add(blob) }
    }

    package func bytes(of blob: BlobID, _ range: ClosedRange<Int64>) async throws -> BlobBytes {
        let key = Self.key(blob)
        let first = try await self.reaching(missing: blob) { try await self.client.get(key, range) }
        return ObjectBytes.sequence(first, range) { [client] rest in try await client.get(key, rest) }
    }

    package func remove(_ blob: BlobID) async throws {
        try await self.reaching { try await self.client.delete(Self.key(blob)) }
    }

    // MARK: Records

    package func willRemove(_ blob: BlobID) async throws {
        // An existing record is kept, because it can contain the id of an upload.
        try await self.threads.runIfActive { if !self.journal.contains(blob) { try self.journal.add(blob) } }
    }

    package func settle(_ blob: BlobID) async throws {
        if let upload = try await self.threads.runIfActive({ self.journal.upload(of: blob) }) {
            try await self.reaching { try await self.client.abortUpload(Self.key(blob), upload) }
        }
        try await self.threads.runIfActive { self.journal.remove(blob) }
    }

    package func unsettled() async throws -> [BlobID] { try await self.threads.runIfActive { try self.journal.blobs() } }

    // MARK: Errors

    /// Converts the errors of the store to errors for clients, and logs their reasons.
    private func reaching<Value>(missing blob: BlobID? = nil, _ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as S3Error {
            if error.code == .missing, error.name != "NoSuchBucket", let blob {
                throw StorageError(.corrupt, message: "the object of blob \(blob) is missing")
            }
            self.logger.warning("The object store failed", metadata: ["error": "\(error)"])
            throw ChatError(
                .unavailable, message: "The server cannot reach its file storage. Try again later.", retryAfter: 5_000)
        }
    }
}
