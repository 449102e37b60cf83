import ApusFramedProtocol
import NIOConcurrencyHelpers
import NIOPosix

/// A list of files and folders that is read in batches. The small files of a batch are opened and
/// read immediately, in one job of the thread pool.
///
/// The caller reads one batch at a time.
final class OutgoingList: Sendable {
    struct File: Sendable {
        var entry: FileTree.Entry
        var source: OutgoingSource
        /// The opened file, if it was opened to check whether it is small.
        var opened: OpenedFile?

        /// Whether the file is sent with its offer.
        var isWhole: Bool { self.opened?.frame != nil }
    }

    /// One batch of the list.
    struct Piece: Sendable {
        var wholes: [File] = []
        var others: [File] = []
        /// The entries that are not sent, with the reason.
        var ended: [(entry: FileTree.Entry, kind: SentFileEvent.Kind)] = []
        var isLast = false
    }

    /// The maximum number of files in a batch that are not sent with their offers.
    private static let maximumOthers = 16
    /// The maximum number of entries in a batch. It bounds runs of omitted entries.
    private static let maximumEntries = 256

    private let tree: NIOLockedValueBox<FileTree>
    private let sending: FileSending
    private let sendsWholeFiles: Bool

    init(_ tree: FileTree, _ sending: FileSending, sendsWholeFiles: Bool) {
        self.tree = NIOLockedValueBox(tree)
        self.sending = sending
        self.sendsWholeFiles = sendsWholeFiles
    }

    /// Reads the next batch. Blocks.
    func read(wholes: Int) -> Piece {
        var piece = Piece()
        for _ in 0..<Self.maximumEntries where piece.wholes.count < wholes && piece.others.count < Self.maximumOthers {
            guard let entry = self.tree.withLockedValue({ $0.next() }) else {
                piece.isLast = true
                break
            }
            if self.sending.skips(entry.name) { continue }
            do throws(TransferError) {
                try self.add(entry, to: &piece)
            } catch {
                piece.ended.append((entry, .failed(error)))
            }
        }
        return piece
    }

    private func add(_ entry: FileTree.Entry, to piece: inout Piece) throws(TransferError) {
        switch entry {
        case .leftOut(_, let reason): piece.ended.append((entry, .leftOut(reason)))
        case .failed(_, let error): throw error
        case .file, .emptyFolder:
            guard let source = try entry.source(keepsAttributes: self.sending.keepsAttributes)?.get() else { return }
            guard self.sendsWholeFiles, entry.size <= WholeFile.maximumBytes else {
                return piece.others.append(File(entry: entry, source: source))
            }
            let opened = try source.open(whole: true)
            let file = File(entry: entry.opened(opened.file.status.size), source: source, opened: opened)
            if file.isWhole { piece.wholes.append(file) } else { piece.others.append(file) }
        }
    }
}
