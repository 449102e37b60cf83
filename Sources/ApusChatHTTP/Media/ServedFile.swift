import ApusChatProtocol
package import ApusChatStorage
import NIOCore
import NIOPosix

/// The file that answers a request: a blob or a preview of a blob.
package struct ServedFile: Sendable {
    /// The name of the content, which never changes.
    let name: String
    let size: Int64
    let type: String
    /// Opens a range of the file.
    let open: @Sendable (_ range: ClosedRange<Int64>) async throws -> BlobBytes

    /// Creates the file of a blob, as it was uploaded.
    package init(_ files: BlobFiles, _ blob: BlobRow) {
        self.name = blob.id.rawValue
        self.size = blob.size
        self.type = blob.type
        self.open = { range in try await files.store.bytes(of: blob.id, range) }
    }

    fileprivate init(preview: [UInt8], name: String, type: String) {
        self.name = name
        self.size = Int64(preview.count)
        self.type = type
        let bytes = ByteBuffer(bytes: preview)
        self.open = { range in
            BlobBytes(bytes.getSlice(at: Int(range.lowerBound), length: range.count) ?? ByteBuffer())
        }
    }
}

extension BlobFiles {
    /// The maximum time for which a request waits until a preview is made.
    private static let previewTime = Duration.seconds(15)

    /// Returns a preview of a file; nil if the server cannot make it, or not in time.
    ///
    /// - Parameter user: The user who requests the preview.
    package func preview(_ kind: PreviewKind, of blob: BlobRow, for user: UserKey) async -> ServedFile? {
        guard
            let path = await self.previews.path(kind, of: blob, at: self.source(of: blob), for: user, waiting: Self.previewTime),
            let bytes = try? await self.threads.runIfActive({ DurableFile.bytes(of: path, upTo: 16 << 20) }),
            let type = PreviewKind.type(of: bytes)
        else { return nil }
        return ServedFile(preview: bytes, name: "\(blob.id.rawValue)-\(kind.rawValue)", type: type)
    }

    /// Converts an AMR recording to AAC. Returns nil for other bytes, and if the conversion fails.
    ///
    /// - Parameter user: The user who requests the recording.
    package func convertedVoice(_ bytes: [UInt8], for user: UserKey) async -> [UInt8]? {
        await self.previews.convertedVoice(bytes, for: user)
    }

    /// Makes the previews of a new blob, and adds the properties that the tools find in it. Waits
    /// at most `time`.
    func withFacts(_ examined: Examined, for user: UserKey, waiting time: Duration) async -> Examined {
        var examined = examined
        let source = self.source(of: examined.row, staged: examined.path)
        guard let facts = await self.previews.make(of: examined.row, at: source, for: user, waiting: time) else { return examined }
        if let type = facts.type { examined.row.type = type }
        if facts.width > 0 { (examined.row.width, examined.row.height) = (facts.width, facts.height) }
        examined.row.duration = facts.duration
        examined.row.thumb = facts.thumb
        return examined
    }
}
