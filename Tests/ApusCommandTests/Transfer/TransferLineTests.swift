import ApusChatTerminal
import Testing

@testable import apus

/// Tests the progress line as a function of the summary and the width.
@Suite struct TransferLineTests {
    /// 40 % of a file of 1 GB, at 50 MB/s.
    private func board(_ name: String = "film.mp4") -> TransferSummary {
        var board = TransferSummary()
        board.began("a", name: name, size: 1_000_000_000, offset: 0, at: .zero)
        for second in 1...8 { board.progressed("a", to: second * 50_000_000, at: .seconds(second)) }
        return board
    }

    @Test(arguments: [
        (100, "film.mp4  ████████████░░░░░░░░░░░░░░░░░░   40%  400 MB of 1.00 GB  50.0 MB/s  0:12 left"),
        (80, "film.mp4  ███████░░░░░░░░░░░   40%  400 MB of 1.00 GB  50.0 MB/s  0:12 left"),
        (60, "film.mp4   40%  400 MB of 1.00 GB  50.0 MB/s  0:12 left"),
        (40, "film.mp4   40%  50.0 MB/s  0:12 left"),
        (30, "film.mp4   40%  0:12 left"),
        (18, "film.mp4   40%"),
        (8, " 40%"),
        (4, " …%"),
        (1, ""),
        (0, ""),
    ])
    func itFits(width: Int, line: String) {
        #expect(TransferLine.text(self.board(), width: width, at: .seconds(8)) == line)
    }

    @Test(arguments: 0...200) func itNeverTouchesTheLastColumn(width: Int) {
        for name in ["a", "a very long name that goes on and on and on and on and on.txt", "很长的文件名字很长的文件名字很长的文件名字.jpg"] {
            let line = TransferLine.text(self.board(name), width: width, at: .seconds(8))
            #expect(TerminalText.width(line) <= max(0, width - 1))
        }
    }

    @Test func aLongNameIsShortenedInTheMiddle() {
        let line = TransferLine.text(self.board("holiday pictures of the summer of 2026.tar.gz"), width: 100, at: .seconds(8))
        #expect(line.hasPrefix("holiday pictures…r of 2026.tar.gz  ███"))
        #expect(TerminalText.shortened("很长的文件名字.jpg", to: 10) == "很长….jpg")
    }

    @Test func escapeSequencesAreRemoved() {
        let line = TransferLine.text(self.board("a\u{1b}[2J\r\n\u{9b}31m\u{202e}gpj"), width: 100, at: .seconds(8))
        #expect(line.hasPrefix("a\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}31m\u{fffd}gpj"))
        #expect(TransferOutput.escaped("{\"a\":\"\u{9b}\u{202e}é\"}") == "{\"a\":\"\\u009b\\u202eé\"}")
    }

    @Test func noRateIsShownAtTheBeginning() {
        var board = TransferSummary()
        board.began("a", name: "a", size: 100, offset: 0, at: .zero)
        #expect(TransferLine.text(board, width: 50, at: .zero) == "a  ░░░░░░░░░░░░░░░    0%  0 B of 100 B")
        board.progressed("a", to: 10, at: .milliseconds(100))
        #expect(board.rate(at: .milliseconds(200)) == nil)
        #expect(board.rate(at: .seconds(1)) == 10)
    }

    @Test func aComparisonIsShown() {
        var board = TransferSummary()
        board.offered("a", name: "film.mp4", size: 1000, at: .zero)
        #expect(TransferLine.text(board, width: 50, at: .seconds(1)) == "film.mp4  checking for a partial file")
        #expect(TransferLine.text(board, width: 20, at: .seconds(1)) == "film.mp4")
        board.began("a", name: "film.mp4", size: 1000, offset: 400, at: .seconds(2))
        #expect(TransferLine.text(board, width: 30, at: .seconds(2)).hasSuffix(" 40%"))
    }

    @Test func aStallIsShown() {
        var board = self.board()
        board.progressed("a", to: 400_000_000, at: .seconds(20))
        board.progressed("a", to: 400_000_000, at: .seconds(21))
        let line = TransferLine.text(board, width: 100, at: .seconds(30))
        #expect(line.hasSuffix("0 B/s  stalled"))
    }

    @Test func existingBytesDoNotCountForTheRate() {
        var board = TransferSummary()
        board.began("a", name: "a", size: 1000, offset: 600, at: .zero)
        #expect(board.doneBytes == 600)
        board.progressed("a", to: 700, at: .seconds(1))
        #expect(board.rate(at: .seconds(1)) == 100 && board.remaining(at: .seconds(1)) == .seconds(3))
        board.ended("a", isCompleted: true, size: 1000, at: .seconds(4))
        #expect(board.movedBytes == 400 && board.completedBytes == 1000 && board.files.isEmpty)
    }

    @Test func theNumberOfManyFilesIsShown() {
        var board = TransferSummary()
        board.totalFiles = 340
        board.totalBytes = 10_000
        board.began("a", name: "album/a", size: 1000, offset: 0, at: .zero)
        board.began("b", name: "album/b", size: 1000, offset: 0, at: .zero)
        board.ended("a", isCompleted: true, size: 1000, at: .seconds(1))
        #expect(TransferLine.text(board, width: 100, at: .seconds(1)).hasPrefix("2/340 album/b  █"))
        #expect(board.doneBytes == 1000 && board.knownBytes == 10_000)
        board.totalFiles = nil
        board.began("c", name: "c", size: 1, offset: 0, at: .seconds(1))
        #expect(TransferLine.text(board, width: 70, at: .seconds(1)).hasPrefix("2 files, album/b"))
    }

    @Test func theSamplesAreBounded() {
        var board = TransferSummary()
        board.began("a", name: "a", size: 1 << 40, offset: 0, at: .zero)
        for step in 1...100_000 { board.progressed("a", to: step, at: .milliseconds(step)) }
        // The rate of the last five seconds, not of the whole run: 1000 bytes per second.
        #expect(board.rate(at: .seconds(100)).map { abs($0 - 1000) < 30 } == true)
    }

    @Test(arguments: [
        (0.0, "0:00"), (0.2, "0:01"), (59.0, "0:59"), (60, "1:00"), (3599, "59:59"), (3600, "1:00:00"), (360_000, "4 days"),
    ])
    func clocks(seconds: Double, text: String) { #expect(TransferLine.clock(.seconds(seconds)) == text) }
}
