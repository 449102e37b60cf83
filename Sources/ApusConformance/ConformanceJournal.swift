import ApusJSON
import ApusSocketIOProtocol
import Foundation
import NIOConcurrencyHelpers

/// What the conformance server has acknowledged, one line an event, in a file that outlives its process.
///
/// Written by one `write` for each line and not synced: the tests kill the process, not the machine.
final class ConformanceJournal: Sendable {
    private let file: NIOLockedValueBox<FileHandle>

    init(path: String) throws {
        if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(fileURLWithPath: path)) }
        guard let file = FileHandle(forWritingAtPath: path) else { throw CocoaError(.fileNoSuchFile) }
        try file.seekToEnd()
        self.file = NIOLockedValueBox(file)
    }

    /// Answers whether the line is in the file.
    func append(_ values: [SocketIOValue]) -> Bool {
        let words = values.map { $0.stringValue ?? "\($0)" }
        let line = words.joined(separator: " ")
        return self.file.withLockedValue { (try? $0.write(contentsOf: Data((line + "\n").utf8))) != nil }
    }
}
