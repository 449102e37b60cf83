import Foundation
import NIOConcurrencyHelpers
import NIOCore

/// Serves the files of a page from a folder, for the development of the page. Changed files are
/// served without a restart. Files whose names begin with a period are not served.
///
/// The folder is scanned at most once in `interval`. A file is read again if its modification time
/// or size has changed. A scan blocks the calling thread.
final class PageFolder: Sendable {
    private struct Entry: Sendable {
        var modified: Date?
        var size: Int?
        /// The file; nil if its extension is not served.
        var file: PageFile?
    }

    private struct State: Sendable {
        /// The entries by their paths, which begin with a slash.
        var entries: [String: Entry] = [:]
        var scanned: ContinuousClock.Instant?
    }

    private let folder: String
    private let interval: Duration
    private let state = NIOLockedValueBox(State())

    /// - Throws: `ChatServerError` with `pageFolder` if the folder has no `index.html`.
    init(_ folder: String, interval: Duration = .milliseconds(500)) throws(ChatServerError) {
        self.folder = folder
        self.interval = interval
        guard self.file("/index.html") != nil else {
            throw ChatServerError(
                .pageFolder, message: "the folder of the page, \(folder), has no index.html; name a folder with the files of a page")
        }
    }

    /// Returns the file at a path, such as `/css/base.css`; nil if the folder has no such file.
    func file(_ path: String) -> PageFile? {
        self.state.withLockedValue { state in
            let now = ContinuousClock.now
            if state.scanned.map({ now - $0 >= self.interval }) ?? true {
                state.entries = self.scan(state.entries)
                state.scanned = now
            }
            return state.entries[path]?.file
        }
    }

    private func scan(_ known: [String: Entry]) -> [String: Entry] {
        guard let paths = FileManager.default.enumerator(atPath: self.folder) else { return [:] }
        var entries: [String: Entry] = [:]
        for case let path as String in paths {
            let key = "/" + path
            guard PageFile.type(of: path) != nil, !key.contains("/.") else { continue }
            let attributes = paths.fileAttributes
            var entry = Entry(modified: attributes?[.modificationDate] as? Date, size: attributes?[.size] as? Int)
            if let before = known[key], before.modified == entry.modified, before.size == entry.size {
                entry.file = before.file
            } else if let data = FileManager.default.contents(atPath: self.folder + key) {
                entry.file = PageFile(name: path, bytes: ByteBuffer(bytes: data))
            }
            entries[key] = entry
        }
        return entries
    }
}
