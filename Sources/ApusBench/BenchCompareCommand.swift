import ApusCommandSupport
import ArgumentParser
import Foundation

/// `apus bench compare`: prints two results side by side.
struct BenchCompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Compare two results, written by `apus bench … --json`.",
        discussion: "A change below 5 % counts as no change: two runs of the same load on one machine can differ by that much.")

    @Argument(help: "The file with the first result.") var before: String

    @Argument(help: "The file with the second result.") var after: String

    func run() throws {
        let comparison = BenchComparison(try Self.report(self.before), try Self.report(self.after))
        writeStandardOutput(Data((comparison.lines.joined(separator: "\n") + "\n").utf8))
    }

    private static func report(_ path: String) throws -> BenchReport {
        guard let data = FileManager.default.contents(atPath: path) else { throw ValidationError("cannot read the file \(path)") }
        do { return try JSONDecoder().decode(BenchReport.self, from: data) } catch {
            throw ValidationError("\(path) is not a result that apus bench ws, socketio or chat has written with --json")
        }
    }
}
