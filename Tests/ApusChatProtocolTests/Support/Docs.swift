import Foundation

/// The documents of the wire.
enum Docs {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs")

    /// Returns the text of a document; an empty text if it cannot be read.
    static func text(_ name: String) -> String {
        (try? String(contentsOf: self.folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
    }
}
