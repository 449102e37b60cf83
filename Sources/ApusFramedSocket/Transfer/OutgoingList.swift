import ApusFramedProtocol
import NIOConcurrencyHelpers
import NIOPosix

/// A list of files and folders that is read a piece at a time; small files are opened and read at once, for all of a piece in one visit to the
/// disk's threads.
///
/// One reading at a time, which the sender of the list sees to.
final class OutgoingList: Sendable {
    struct File: Sendable {
        var entry: FileTree.Entry
        var source: OutgoingSource
        /// It was opened already: to see whether it is small.
        var opened: OpenedFile?

        /// Whether it goes with its offer.
        var isWhole: Bool { self.opened?.frame != nil }
    }

    /// What one reading brings.
    struct Piece: Sendable {
        var wholes: [File] = []
        var others: [File] = []
        /// What is not sent, and why.
        var ended: [(entry: FileTree.Entry, kind: SentFileEvent.Kind)] = []
        var isLast = false
    }

    /// A piece ends with so many whole files, others, and entries in all: others may be left out without end.
    private static let maximumOthers = 16
    private static let maximumEntries = 256

    private let tree: NIOLockedValueBox<FileTree>
    private let sending: FileSending
    private let sendsWholeFiles: Bool

    init(_ tree: FileTree, _ sending: FileSending, sendsWholeFiles: Bool) {
        self.tree = NIOLockedValueBox(tree)
        self.sending = sending
        self.sendsWholeFiles = sendsWholeFiles
    }

    /// Reads on. Blocks.
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
        case .leftOut(_, let why): piece.ended.append((entry, .leftOut(why)))
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
