import ApusChatStorage
import Foundation
import NIOCore
import NIOPosix

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file of which previews are made.
struct MediaSource: Sendable {
    /// Places the file under a path.
    let place: @Sendable (_ path: String) async throws -> Void

    /// A file of this machine, to which a symbolic link leads.
    static func link(to source: String, threads: NIOThreadPool) -> Self {
        Self { path in
            let source = source.hasPrefix("/") ? source : FileManager.default.currentDirectoryPath + "/" + source
            try await threads.runIfActive { try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: source) }
        }
    }

    /// A blob of a store on another machine, which is copied.
    ///
    /// - Parameter staged: The path of the file that was uploaded, which is used as long as it
    ///   exists.
    static func copy(of blob: BlobRow, in store: any BlobStore, staged: String?, threads: NIOThreadPool) -> Self {
        Self { path in
            if let staged, (try? await threads.runIfActive({ try DurableFile.link(staged, as: path) })) != nil { return }
            let file = try await threads.runIfActive { try OpenFile(path, DurableFile.newFile) }
            var offset: Int64 = 0
            for try await piece in try await store.bytes(of: blob.id, 0...max(0, blob.size - 1)) {
                let start = offset
                try await threads.runIfActive { try file.write(Array(piece.readableBytesView), at: start) }
                offset += Int64(piece.readableBytes)
            }
        }
    }
}

extension BlobFiles {
    /// Returns the file of a blob for the tools.
    ///
    /// - Parameter staged: The path of the file that was uploaded, if the blob is new.
    func source(of blob: BlobRow, staged: String? = nil) -> MediaSource {
        if let path = self.store.path(of: blob.id) { return .link(to: path, threads: self.threads) }
        return .copy(of: blob, in: self.store, staged: staged, threads: self.threads)
    }
}
