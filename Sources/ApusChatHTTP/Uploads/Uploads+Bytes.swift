import ApusChatProtocol
package import ApusChatStorage
package import NIOCore
import NIOPosix

extension Uploads {
    /// Stores bytes in memory as an upload of a user, with the same rate limits, quota and checks
    /// as other uploads.
    package func store(_ bytes: ByteBuffer, for session: AccountSession, from client: ClientOrigin) async throws -> BlobRow {
        try self.beginTransfer(session, client)
        defer { self.endTransfer(session, client) }
        let part = try await self.create(length: Int64(bytes.readableBytes), for: session, from: client)
        let syncBytes = self.configuration.syncBytes
        let blob: BlobRow
        do {
            try await self.files.threads.runIfActive {
                let (transfer, _) = try part.begin()
                guard try part.append(bytes, transfer, syncBytes: syncBytes) == .done, try part.end(transfer) != nil else {
                    throw StorageError(.invalidUse, message: "upload \(part.id) of the server was interrupted by another transfer")
                }
            }
            blob = try await self.finish(part)
        } catch {
            try? await self.remove(part)
            throw error
        }
        // The client has no reference to the unfinished upload and cannot continue it.
        try await self.remove(part)
        return blob
    }
}
