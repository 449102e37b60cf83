import ApusCommandSupport
import ArgumentParser
import Foundation

/// `apus bench compare`: two results side by side.
struct BenchCompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Compare two results of --json.",
        discussion: "A change below 5 % is none: loads on one machine differ by as much from one run to the next.")

    @Argument(help: "The result before.") var before: String

    @Argument(help: "The result after.") var after: String

    func run() throws {
        let comparison = BenchComparison(try Self.report(self.before), try Self.report(self.after))
        writeStandardOutput(Data((comparison.lines.joined(separator: "\n") + "\n").utf8))
    }

    private static func report(_ path: String) throws -> BenchReport {
        guard let data = FileManager.default.contents(atPath: path) else { throw ValidationError("cannot read the file \(path)") }
        do { return try JSONDecoder().decode(BenchReport.self, from: data) } catch {
            throw ValidationError("\(path) is no result of apus bench --json")
        }
    }
}
