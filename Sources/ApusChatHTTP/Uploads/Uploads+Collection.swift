import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The removal of uploads that are no longer needed.
extension Uploads {
    /// Removes expired uploads, and blobs without references. Called periodically.
    package func sweep() async throws {
        guard self.accounts.clock.isTrusted() else { return }
        let now = self.accounts.clock.now()
        let expired = self.parts.withLockedValue { parts in parts.values.filter { $0.expiresAt <= now } }
        for part in expired { try await self.remove(part) }
        let limit = now - self.configuration.orphanLifetime
        var cursor: Int64? = 0
        while let start = cursor {
            let page = try await self.accounts.database.read { try $0.orphans(before: limit, after: start, limit: 1_000) }
            try await self.collect(page.blobs)
            cursor = page.next
        }
    }

    /// Removes the rows of blobs that still have no reference, and then their bytes.
    private func collect(_ blobs: [BlobID]) async throws {
        let files = self.files
        let blobs = files.claims.claim(blobs)
        guard !blobs.isEmpty else { return }
        defer { for blob in blobs { files.claims.release(blob) } }
        for blob in blobs { try await files.store.willRemove(blob) }
        let removed = try await self.accounts.database.write { storage in
            try storage.commit { changes, _ in changes.credentials.collectedBlobs = blobs }
            return try blobs.filter { try storage.blob($0) == nil }
        }
        for blob in removed {
            try await files.threads.runIfActive { files.previews.remove(blob) }
            try await files.store.remove(blob)
        }
        for blob in blobs { try await files.store.settle(blob) }
    }
}
