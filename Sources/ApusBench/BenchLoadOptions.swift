import ApusCommandSupport
import ArgumentParser
import Foundation

/// The options that every load has.
struct BenchLoadOptions: ParsableArguments {
    @Option(help: "Connections to open.") var connections = 50

    @Option(
        help: "Messages each connection has under way at most. 0 opens the connections and says nothing. Default: 4, with --rate 1000.")
    var inFlight: Int?

    @Option(help: "Bytes of payload in a message.") var size = 64

    @Option(help: "Messages a second, all connections together. Without it the next message goes out when an answer has come.")
    var rate: Double?

    @Option(help: "Seconds to measure.") var duration = 5.0

    @Option(help: "Seconds of load before the measuring.") var warmup = 1.0

    @Option(help: "Seconds over which the connections are opened. 0 opens them as fast as they come.") var ramp = 0.0

    @Option(help: "Connections that are being opened at a time.") var opening = 50

    @Option(help: "Event loops of the load; each has its share of the connections.") var threads = 1

    @Option(help: "The process id of the server, when it runs on this machine: adds its CPU time and memory.") var pid: Int?

    @Flag(help: "Binary payloads.") var binary = false

    @Option(help: ArgumentHelp("A field for every HTTP request; may be repeated.", valueName: "NAME: VALUE")) var header: [String] = []

    @Flag(help: "Do not check the server's certificate.") var insecure = false

    @Option(help: "Write the result as JSON to this file; - is the standard output, and then nothing else is written there.") var json:
        String?

    func validate() throws {
        func within<Value: Comparable>(_ name: String, _ value: Value, _ range: ClosedRange<Value>) throws {
            guard range.contains(value) else { throw ValidationError("\(name) must be from \(range.lowerBound) to \(range.upperBound)") }
        }
        try within("--connections", self.connections, 1...1_000_000)
        try within("--in-flight", self.inFlight ?? 1, 0...100_000)
        try within("--size", self.size, 0...(64 << 20))
        try within("--rate", self.rate ?? 1, 0.001...100_000_000)
        try within("--duration", self.duration, 0.01...86_400)
        try within("--warmup", self.warmup, 0...3600)
        try within("--ramp", self.ramp, 0...3600)
        try within("--opening", self.opening, 1...10_000)
        try within("--threads", self.threads, 1...256)
        guard self.connections >= self.threads else { throw ValidationError("--threads must not be above --connections") }
        _ = try self.headers()
    }

    private func headers() throws -> [(String, String)] {
        try self.header.map { field in
            guard let colon = field.firstIndex(of: ":"), colon > field.startIndex,
                !field.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f })
            else { throw ValidationError("--header \"\(field)\" is no field; for example --header \"Cookie: a=b\"") }
            return (String(field[..<colon]), String(field[field.index(after: colon)...].drop { $0 == " " }))
        }
    }

    func plan(url: String, exchange: BenchPlan.Exchange) throws -> BenchPlan {
        var plan = BenchPlan(url: url, exchange: exchange)
        plan.binary = self.binary
        plan.headers = try self.headers()
        plan.insecure = self.insecure
        plan.connections = self.connections
        plan.inFlight = self.inFlight ?? (self.rate == nil ? 4 : 1000)
        plan.size = self.size
        plan.rate = self.rate
        plan.duration = Self.duration(self.duration)
        plan.warmUp = Self.duration(self.warmup)
        plan.ramp = Self.duration(self.ramp)
        plan.opening = self.opening
        plan.threads = self.threads
        plan.serverProcess = self.pid
        return plan
    }

    private static func duration(_ seconds: Double) -> Duration { .microseconds(Int64(seconds * 1_000_000)) }

    /// Runs the load, shows how far it is, prints the result.
    func run(_ plan: BenchPlan) async throws {
        let ticker = BenchProgressLine()
        let report = try await BenchRun(plan: plan, progress: { ticker.show($0) }).run()
        ticker.end()
        try Self.write(report, json: self.json)
    }

    /// The result as JSON where that was asked for, and as text.
    static func write(_ report: BenchReport, json: String?) throws {
        if let json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            let data = try encoder.encode(report) + Data("\n".utf8)
            if json == "-" { return writeStandardOutput(data) }
            try data.write(to: URL(fileURLWithPath: json))
        }
        writeStandardOutput(Data((report.lines.joined(separator: "\n") + "\n").utf8))
    }
}
