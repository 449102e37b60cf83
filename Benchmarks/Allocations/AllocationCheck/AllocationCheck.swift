import CAllocationCounter
import Foundation
import NIOPosix

/// Counts the allocations of whole servers for each message, over real sockets of the loopback, and of some codecs.
///
/// The client of the server side is a blocking socket with everything prepared, so that what is counted is the server's. Each figure is the least of three
/// runs: a timer that fires meanwhile is not the message's. Prints `name<tab>figure` lines; `scripts/check-allocations` compares them. `--list` names the codecs, `--run NAME ROUNDS` only does one's
/// work: `Benchmarks/micro` counts instructions so.
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
            FileHandle.standardError.write(Data("nothing is counted on this system\n".utf8))
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

/// A name, and what finds its figure.
typealias Measure = (name: String, run: @Sendable () async throws -> Double)

/// The allocations of each of `count` messages, the least of three runs.
func allocations(messages count: Int, _ body: () throws -> Void) rethrows -> Double {
    try body()  // what is made once
    var least = UInt64.max
    for _ in 0..<3 {
        let before = apus_allocation_count()
        try body()
        least = min(least, apus_allocation_count() - before)
    }
    return Double(least) / Double(count)
}
