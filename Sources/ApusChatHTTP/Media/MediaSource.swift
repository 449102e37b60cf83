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

/// The file from which previews are made.
struct MediaSource: Sendable {
    /// Makes the file available at a path.
    let place: @Sendable (_ path: String) async throws -> Void

    /// Returns a source that makes a symbolic link to a file of this machine.
    static func link(to source: String, threads: NIOThreadPool) -> Self {
        Self { path in
            let source = source.hasPrefix("/") ? source : FileManager.default.currentDirectoryPath + "/" + source
            try await threads.runIfActive { try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: source) }
        }
    }

    /// Returns a source that copies a blob from a store on another machine.
    ///
    /// - Parameter staged: The path of the uploaded file, which is used instead of the store while
    ///   it exists.
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
