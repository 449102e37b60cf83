/// The result of one load, as `--json` writes it.
struct BenchReport: Codable, Equatable {
    /// A summary of latencies, in microseconds.
    struct Latency: Codable, Equatable {
        var p50, p90, p99, p999, p9999, maximum, mean: Double
    }

    /// The opening of the connections.
    struct SetUp: Codable, Equatable {
        var opened: Int
        var failed: Int
        /// The time from the start of the first attempt to the end of the last, in seconds.
        var seconds: Double
        var latency: Latency?
        /// The server's CPU time during the opening, in seconds; `nil` without `--pid`.
        var serverCPUSeconds: Double?

        var perSecond: Double { Double(self.opened) / max(self.seconds, 1e-9) }
        var perServerCPUSecond: Double? { self.serverCPUSeconds.map { Double(self.opened) / max($0, 1e-9) } }
    }

    /// The server's CPU time and memory during the measurement; only with `--pid`.
    struct Server: Codable, Equatable {
        var cpuSeconds: Double
        /// The resident memory in bytes: before the first connection, after the last one was
        /// opened, and at the end. `apus bench chat` reads the first two when the measurement
        /// starts.
        var residentBefore, residentConnected, residentAfter: Int
    }

    /// A description of the load. Two results are comparable if their descriptions are equal.
    var load: String
    var url: String
    /// The measured time, in seconds.
    var seconds: Double
    /// The number of answers, or of deliveries of broadcasts.
    var messages: Int
    var size: Int
    var connections: Int
    var latency: Latency?
    /// Whether latencies count from the scheduled send time.
    var correctsOmission: Bool
    var unanswered: Int
    /// The number of connections that closed before the end of the load.
    var lost: Int
    var setUp: SetUp
    var server: Server?
    /// The CPU time of this program during the measurement, in seconds.
    var toolCPUSeconds: Double
    /// The number of cores that this program could use.
    var toolCores: Int
    /// The number of messages that became due, and the number of those that were handled too late.
    /// Both are 0 without a fixed rate.
    var sends, lateSends: Int
    /// The reasons to assume that this program, and not the server, limited the result.
    var toolLimits: [String] = []

    var messagesPerSecond: Double { Double(self.messages) / max(self.seconds, 1e-9) }
    var messagesPerServerCPUSecond: Double? { self.server.map { Double(self.messages) / max($0.cpuSeconds, 1e-9) } }
    var toolShare: Double { self.toolCPUSeconds / max(self.seconds * Double(self.toolCores), 1e-9) }
    var residentPerConnection: Double? {
        self.server.map { Double($0.residentAfter - $0.residentBefore) / Double(max(self.setUp.opened, 1)) }
    }

    /// Records in ``toolLimits`` the reasons why the load tool limited the result. It did if it
    /// used at least 90 % of its cores, or sent more than 1 % of the messages too late.
    mutating func judgeTool() {
        self.toolLimits = []
        if self.toolShare >= 0.9 {
            let cores = self.toolCores == 1 ? "its one core" : "its \(self.toolCores) cores"
            self.toolLimits.append(
                "the load tool used \(BenchText.percent(self.toolShare)) of \(cores); the server may be faster "
                    + "(try more --threads, or a second machine)"
            )
        }
        if self.lateSends * 100 > self.sends {
            self.toolLimits.append(
                "the load tool sent \(self.lateSends) of \(self.sends) messages more than 10 ms late: the rate was not achieved"
            )
        }
    }
}
