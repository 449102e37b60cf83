import ApusCommandSupport
import ArgumentParser
import Foundation
import HTTPTypes

/// The options common to `apus bench ws` and `apus bench socketio`.
struct BenchLoadOptions: ParsableArguments {
    @Option(help: "The number of connections.") var connections = 50

    @Option(
        help: "The maximum number of messages in flight on a connection; 0 leaves the connections idle. Default: 4; with --rate 1000.")
    var inFlight: Int?

    @Option(help: "The size of the payload of a message, in bytes.") var size = 64

    @Option(help: "The messages per second over all connections. Default: each answer triggers the next message.")
    var rate: Double?

    @Option(help: "The time to measure, in seconds.") var duration = 5.0

    @Option(help: "The time to apply the load before measuring, in seconds.") var warmup = 1.0

    @Option(help: "The time over which to open the connections, in seconds; 0 opens them without a delay.") var ramp = 0.0

    @Option(help: "The number of connections to open at the same time.") var opening = 50

    @Option(help: "The number of event loops; the connections are divided among them.") var threads = 1

    @Option(help: "The server's process ID, if it runs on this machine: adds its CPU time and memory.") var pid: Int?

    @Flag(help: "Send binary payloads.") var binary = false

    @Option(help: ArgumentHelp("A header field for every HTTP request; may be repeated.", valueName: "NAME: VALUE"))
    var header: [String] = []

    @OptionGroup var tlsOptions: TLSOptions

    @Option(help: "Write the result as JSON to this file; - means standard output, which then receives nothing else.")
    var json: String?

    func validate() throws {
        try ValidationError.check("--connections", self.connections, in: 1...1_000_000)
        try ValidationError.check("--in-flight", self.inFlight ?? 1, in: 0...100_000)
        try ValidationError.check("--size", self.size, in: 0...(64 << 20))
        try ValidationError.check("--rate", self.rate ?? 1, in: 0.001...100_000_000)
        try ValidationError.check("--duration", self.duration, in: 0.01...86_400)
        try ValidationError.check("--warmup", self.warmup, in: 0...3600)
        try ValidationError.check("--ramp", self.ramp, in: 0...3600)
        try ValidationError.check("--opening", self.opening, in: 1...10_000)
        try ValidationError.check("--threads", self.threads, in: 1...256)
        guard self.connections >= self.threads else { throw ValidationError("--threads must not exceed --connections") }
        _ = try self.headers()
    }

    private func headers() throws -> HTTPFields { try HTTPFields(options: self.header) }

    func plan(url: String, exchange: BenchPlan.Exchange) throws -> BenchPlan {
        var plan = BenchPlan(url: url, exchange: exchange)
        plan.binary = self.binary
        plan.headers = try self.headers()
        plan.tls = try self.tlsOptions.settings()
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

    /// Runs the load, shows its progress and prints the result.
    func run(_ plan: BenchPlan) async throws {
        let ticker = BenchProgressLine()
        let report = try await BenchRun(plan: plan, progress: { ticker.show($0) }).run()
        ticker.end()
        try Self.write(report, json: self.json)
    }

    /// Writes the result as JSON if requested, and as text unless the JSON goes to standard output.
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

extension ValidationError {
    /// Throws unless the value of an option is in the range.
    static func check<Value: Comparable>(_ option: String, _ value: Value, in range: ClosedRange<Value>) throws {
        guard !range.contains(value) else { return }
        throw ValidationError("\(option) must be from \(range.lowerBound) to \(range.upperBound), not \(value)")
    }
}
