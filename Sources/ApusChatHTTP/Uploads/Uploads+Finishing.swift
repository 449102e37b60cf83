import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The conversion of complete uploads to blobs.
extension Uploads {
    struct Finishing: Sendable {
        var tasks: [String: Task<BlobRow, any Error>] = [:]
        var isClosed = false
    }

    /// Creates a blob from a complete upload: first its bytes, then its row. A repeated call
    /// returns the same blob.
    ///
    /// The work continues if the client does not wait for it.
    func finish(_ part: UploadPart) async throws -> BlobRow {
        if let blob = part.blob { return blob }
        let task = self.finishing.withLockedValue { finishing -> Task<BlobRow, any Error>? in
            if let task = finishing.tasks[part.id] { return task }
            guard !finishing.isClosed else { return nil }
            let task = Task {
                defer { self.finishing.withLockedValue { $0.tasks[part.id] = nil } }
                return try await self.makeBlob(part)
            }
            finishing.tasks[part.id] = task
            return task
        }
        guard let task else { throw ChatError(.unavailable, message: "The server is stopping. Try again later.", retryAfter: 2_000) }
        guard let result = await task.result(within: self.configuration.storeWait) else {
            throw ChatError(
                .unavailable, message: "The upload is complete, but the server is still storing it. Repeat the request.", retryAfter: 2_000)
        }
        return try result.get()
    }

    private func makeBlob(_ part: UploadPart) async throws -> BlobRow {
        if let blob = part.blob { return blob }
        var examined: BlobFiles.Examined
        do {
            examined = try await self.files.examine(part.path, at: self.accounts.clock.now())
        } catch let error as ChatError {
            try await self.remove(part)
            throw error
        }
        let (files, id) = (self.files, examined.row.id)
        return try await files.claims.with(id) {
            try await files.store.store(examined.path, size: examined.row.size, as: id)
            if try await self.accounts.database.read({ try $0.blob(id) }) == nil {
                examined = await files.withFacts(examined, for: part.user, waiting: self.configuration.previewWait)
            }
            let row = examined.row
            try await self.accounts.database.write { storage in
                try storage.commit { changes, _ in changes.credentials.uploads = [(row, part.user)] }
            }
            try await files.store.settle(id)
            try await files.threads.runIfActive { try part.finish(row) }
            return row
        }
    }

    /// Continues work that a stop of the server or an unreachable store interrupted: creates the
    /// blobs of complete uploads, and removes bytes without a row. Called periodically.
    package func resume() async throws {
        var failure: (any Error)?
        let complete = self.parts.withLockedValue { parts in parts.values.filter { $0.blob == nil && $0.offset == $0.length } }
        for part in complete {
            do { _ = try await self.finish(part) } catch { failure = error }
        }
        for blob in try await self.files.store.unsettled() {
            guard !self.files.claims.claim([blob]).isEmpty else { continue }
            defer { self.files.claims.release(blob) }
            do { try await self.settle(blob) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func settle(_ blob: BlobID) async throws {
        let files = self.files
        if try await self.accounts.database.read({ try $0.blob(blob) }) == nil {
            try await files.threads.runIfActive { files.previews.remove(blob) }
            try await files.store.remove(blob)
        }
        try await files.store.settle(blob)
    }

    /// Ends the work for complete uploads, which the next start continues.
    package func close() async {
        let tasks = self.finishing.withLockedValue { finishing in
            finishing.isClosed = true
            return Array(finishing.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
    }
}
