import ApusBytes
import ApusChatTerminal
import Foundation

/// Formats the progress line at the bottom of the terminal.
enum TransferLine {
    /// The minimum width of the name. Fields after the name are omitted if less space would remain.
    private static let leastLabel = 12
    private static let bar = (least: 10, most: 30)

    /// Returns the progress line.
    ///
    /// - Parameter width: The number of columns of the terminal. The last column stays empty,
    ///   because some terminals wrap when it is written.
    static func text(_ board: TransferSummary, width: Int, at now: Duration) -> String {
        let width = max(0, width - 1)
        let label = PeerText.visible(self.label(of: board))
        if !board.files.isEmpty, board.files.allSatisfy({ $0.file.isCompared }) {
            let tail = "  checking for a partial file"
            let room = width - TerminalText.width(tail)
            return room < min(self.leastLabel, TerminalText.width(label))
                ? TerminalText.shortened(label, to: width) : TerminalText.shortened(label, to: room) + tail
        }
        let (done, known) = (board.doneBytes, board.knownBytes)
        let fraction = known == 0 ? 0 : min(1, Double(done) / Double(known))
        let percent = String(format: "%3d%%", Int(fraction * 100))
        let rate = board.rate(at: now).map { ByteCount(Int($0)).text + "/s" }
        let left = board.remaining(at: now).map { self.clock($0) + " left" }
        let isStalled = board.rate(at: now).map { $0 < 1 } ?? false
        // The possible sets of fields, from the longest to the shortest.
        let fields: [[String?]] = [
            [percent, "\(ByteCount(done).text) of \(ByteCount(known).text)", rate, isStalled ? "stalled" : left],
            [percent, rate, isStalled ? "stalled" : left], [percent, isStalled ? "stalled" : left], [percent],
        ]
        for candidate in fields {
            let tail = candidate.compactMap { $0 }.joined(separator: "  ")
            let room = width - TerminalText.width(tail) - 2
            let barRoom = room - 2 - max(self.leastLabel, min(TerminalText.width(label), width / 3))
            guard room >= min(self.leastLabel, TerminalText.width(label)) else { continue }
            guard barRoom >= self.bar.least else {
                return TerminalText.padded(TerminalText.shortened(label, to: room), to: min(room, TerminalText.width(label))) + "  "
                    + tail
            }
            let length = min(barRoom, self.bar.most)
            let labelRoom = room - 2 - length
            return TerminalText.shortened(label, to: labelRoom) + "  " + self.bar(fraction, length) + "  " + tail
        }
        return TerminalText.shortened(percent, to: width)
    }

    private static func bar(_ fraction: Double, _ length: Int) -> String {
        let full = Int(fraction * Double(length))
        return String(repeating: "█", count: full) + String(repeating: "░", count: length - full)
    }

    private static func label(of board: TransferSummary) -> String {
        let current = board.files.first?.file.name
        if let total = board.totalFiles, total > 1 {
            return "\(min(board.completed + board.failed + 1, total))/\(total)" + (current.map { " " + $0 } ?? "")
        }
        guard board.files.count > 1 else { return current ?? "waiting" }
        return "\(board.files.count) files, \(current ?? "")"
    }

    /// Returns a duration as `0:07`, `1:02:03` or, from 100 hours, `4 days`.
    static func clock(_ duration: Duration) -> String {
        let seconds = max(0, Int(((duration / .milliseconds(1)).rounded() / 1000).rounded(.up)))
        if seconds >= 100 * 3600 { return "\(seconds / 86_400) days" }
        if seconds >= 3600 { return String(format: "%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60) }
        return String(format: "%d:%02d", seconds / 60, seconds % 60)
    }

    /// Returns a duration as `4.1 s` or, from one minute, in the format of ``clock(_:)``.
    static func seconds(_ duration: Duration) -> String {
        duration < .seconds(60) ? String(format: "%.1f s", duration / .seconds(1)) : self.clock(duration)
    }

    /// Returns the progress of a file as a permanent line: `a.bin: 45%, 123 MB of 512 MB, 87.1
    /// MB/s`.
    static func plain(_ file: TransferSummary.File, rate: Double?) -> String {
        let percent = file.size == 0 ? 100 : Int(Double(file.done) / Double(file.size) * 100)
        let speed = rate.map { ", \(ByteCount(Int($0)).text)/s" } ?? ""
        return "\(PeerText.visible(file.name)): \(percent)%, \(ByteCount(file.done).text) of \(ByteCount(file.size).text)\(speed)"
    }
}
