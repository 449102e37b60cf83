import ApusChatProtocol
import ApusChatStorage
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Records the blobs whose bytes and rows may disagree, as files that are named by the blobs. A
/// file contains the id of an unfinished upload in parts, or nothing.
///
/// A record is added before the bytes are changed, and is removed after the row is changed. The
/// methods block.
struct BlobJournal: Sendable {
    private static let uploadBytes = 2_048
    private let folder: String

    /// - Parameters:
    ///   - name: The name of the folder of the records.
    ///   - folder: The parent folder of the folder of the records.
    init(_ name: String, in folder: String) throws(StorageError) {
        self.folder = folder + "/" + name
        try DurableFile.makeFolder(self.folder)
        try DurableFile.syncFolder(folder)
    }

    private func path(_ blob: BlobID) -> String { "\(self.folder)/\(blob.rawValue)" }

    /// Adds a record that survives the end of the process, but not always a failure of the system.
    func note(_ blob: BlobID) throws(StorageError) { _ = try OpenFile(self.path(blob), O_WRONLY | O_CREAT) }

    /// Adds or changes a record, which is durable when the method returns.
    func add(_ blob: BlobID, upload: String = "") throws(StorageError) {
        try DurableFile.replace(self.path(blob), with: Array(upload.utf8), in: self.folder)
    }

    /// Returns the unfinished upload of a blob.
    func upload(of blob: BlobID) -> String? {
        guard let bytes = DurableFile.bytes(of: self.path(blob), upTo: Self.uploadBytes), !bytes.isEmpty else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    func contains(_ blob: BlobID) -> Bool { DurableFile.exists(self.path(blob)) }

    func remove(_ blob: BlobID) { DurableFile.remove(self.path(blob)) }

    func blobs() throws -> [BlobID] {
        try FileManager.default.contentsOfDirectory(atPath: self.folder).sorted().compactMap { BlobID($0) }
    }
}
