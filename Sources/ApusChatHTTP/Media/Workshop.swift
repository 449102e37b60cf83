import ApusChatStorage
import ApusPictures
import Foundation

/// The folder of one job. Tools access the file only under the name `in`, so that no name that an
/// operator or a client has chosen is read as an option.
struct Workshop: Sendable {
    static let input = "in"
    /// The maximum size of a result, in bytes: the default of `ToolLimits.fileBytes`.
    private static let resultBytes = 16 << 20
    let folder: String

    /// Creates the folder, without a file.
    init(in parent: String) throws {
        self.folder = "\(parent)/\(Secrets.hex(Secrets.bytes(8)))"
        try DurableFile.makeFolder(self.folder)
    }

    /// - Parameter content: The content of the file.
    init(in parent: String, content: [UInt8]) throws {
        self.folder = "\(parent)/\(Secrets.hex(Secrets.bytes(8)))"
        try DurableFile.makeFolder(self.folder)
        do {
            try OpenFile(self.path(Self.input), DurableFile.newFile).write(content, at: 0)
        } catch {
            self.remove()
            throw error
        }
    }

    func path(_ name: String) -> String { "\(self.folder)/\(name)" }

    /// Returns the content of a result; nil if the tool did not write it, or if it is too long.
    func bytes(_ name: String, upTo limit: Int = Self.resultBytes) -> [UInt8]? { DurableFile.bytes(of: self.path(name), upTo: limit) }

    /// Moves a result to its place. Does nothing if it does not exist, or is not of a type that the
    /// server expects.
    func publish(_ name: String, in folder: String, as path: String) throws {
        guard let bytes = self.bytes(name), let type = PreviewKind.type(of: bytes) else { return }
        // libvips 8.14 keeps Exif in WebP files, even with `strip`.
        if let format = PictureFormat(rawValue: type), let cleaned = try? PictureMetadata.removed(from: bytes, of: format) {
            try OpenFile(self.path(name), DurableFile.newFile).write(cleaned, at: 0)
        }
        try DurableFile.makeFolder(folder)
        try DurableFile.move(self.path(name), to: path)
    }

    func remove() { try? FileManager.default.removeItem(atPath: self.folder) }
}
