import CAllocationCounter
import Foundation
import NIOPosix

/// Counts the allocations per message of servers, over loopback sockets, and of codecs.
///
/// The client is a blocking socket with prepared data, so that only the server allocates. Each
/// figure per message is the minimum of three runs, to exclude timers. Prints lines
/// `name<tab>figure`, which `scripts/check-allocations` compares; an argument selects the names
/// that begin with it. `--list` lists the codecs. `--run NAME ROUNDS` runs one codec, for the
/// instruction counts of `Benchmarks/Micro/run`.
@main struct AllocationCheck {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "--list": return Codecs.all.forEach { print($0.name) }
        case "--run":
            let rest = Array(arguments.dropFirst())
            guard rest.count == 2, let rounds = Int(rest[1]), try Codecs.run(rest[0], rounds: rounds) else { exit(64) }
            return
        default: break
        }
        let only = arguments.first
        guard Self.counts() else {
            FileHandle.standardError.write(Data("allocations are not counted on this system\n".utf8))
            exit(2)
        }
        for (name, measure) in Codecs.all + Servers.all where only.map({ name.hasPrefix($0) }) ?? true {
            let figure = try await measure()
            print("\(name)\t\((figure * 100).rounded() / 100)")
            fflush(nil)
        }
        exit(0)  // servers and sockets end with the process
    }

    private static func counts() -> Bool {
        let before = apus_allocation_count()
        withExtendedLifetime(Data(count: 100_000)) {}
        return apus_allocation_count() > before
    }
}

/// The name of a figure and its measurement.
typealias Measure = (name: String, run: @Sendable () async throws -> Double)

/// Returns the allocations per message: the minimum of three runs of `count` messages.
func allocations(messages count: Int, _ body: () throws -> Void) rethrows -> Double {
    try body()  // one-time allocations
    var least = UInt64.max
    for _ in 0..<3 {
        let before = apus_allocation_count()
        try body()
        least = min(least, apus_allocation_count() - before)
    }
    return Double(least) / Double(count)
}
