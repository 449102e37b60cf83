import ApusJSON
import ApusSocketIOProtocol
import Foundation
import NIOConcurrencyHelpers

/// A file with one line for each event. The conformance server writes the line before it
/// acknowledges the event.
///
/// Each line is written by one `write` without a sync, because the tests stop the process and not
/// the machine.
final class ConformanceJournal: Sendable {
    private let file: NIOLockedValueBox<FileHandle>

    init(path: String) throws {
        if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(fileURLWithPath: path)) }
        guard let file = FileHandle(forWritingAtPath: path) else { throw CocoaError(.fileNoSuchFile) }
        try file.seekToEnd()
        self.file = NIOLockedValueBox(file)
    }

    /// Appends a line.
    /// - Returns: Whether the line was written.
    func append(_ values: [SocketIOValue]) -> Bool {
        let words = values.map { $0.stringValue ?? "\($0)" }
        let line = words.joined(separator: " ")
        return self.file.withLockedValue { (try? $0.write(contentsOf: Data((line + "\n").utf8))) != nil }
    }
}
