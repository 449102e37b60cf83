/// The result of one load, as `--json` writes it.
struct BenchReport: Codable, Equatable {
    /// Microseconds.
    struct Latency: Codable, Equatable {
        var p50, p90, p99, p999, p9999, maximum, mean: Double
    }

    /// How the connections came to stand.
    struct SetUp: Codable, Equatable {
        var opened: Int
        var failed: Int
        /// From the first attempt to the last end of one.
        var seconds: Double
        var latency: Latency?
        /// Of the server while it took them in; `nil` without `--pid`.
        var serverCPUSeconds: Double?

        var perSecond: Double { Double(self.opened) / max(self.seconds, 1e-9) }
        var perServerCPUSecond: Double? { self.serverCPUSeconds.map { Double(self.opened) / max($0, 1e-9) } }
    }

    /// What the server used while it was measured; only with `--pid`.
    struct Server: Codable, Equatable {
        var cpuSeconds: Double
        /// Bytes: before the first connection, when the last one stood, and at the end.
        var residentBefore, residentConnected, residentAfter: Int
    }

    /// What was done, in words; two runs are compared when it is the same.
    var load: String
    var url: String
    /// The time that was measured.
    var seconds: Double
    /// Answers, or deliveries of broadcasts.
    var messages: Int
    var size: Int
    var connections: Int
    var latency: Latency?
    /// Whether latencies count from the time a message was meant to be sent.
    var correctsOmission: Bool
    var unanswered: Int
    /// Connections that ended before the load did.
    var lost: Int
    var setUp: SetUp
    var server: Server?
    /// Of this program, and the cores it could use.
    var toolCPUSeconds: Double
    var toolCores: Int
    var sends: Int
    var lateSends: Int
    /// Why the figures say more about this program than about the server; empty when they do not.
    var toolLimits: [String] = []

    var messagesPerSecond: Double { Double(self.messages) / max(self.seconds, 1e-9) }
    var messagesPerServerCPUSecond: Double? { self.server.map { Double(self.messages) / max($0.cpuSeconds, 1e-9) } }
    var toolShare: Double { self.toolCPUSeconds / max(self.seconds * Double(self.toolCores), 1e-9) }
    var residentPerConnection: Double? {
        self.server.map { Double($0.residentAfter - $0.residentBefore) / Double(max(self.setUp.opened, 1)) }
    }

    /// Finds out whether the load tool was the limit.
    ///
    /// A tool that has no time left measures itself: from nine tenths of its cores on, or when a hundredth of the messages went out too late.
    mutating func judgeTool() {
        self.toolLimits = []
        if self.toolShare >= 0.9 {
            let cores = self.toolCores == 1 ? "its one core" : "its \(self.toolCores) cores"
            self.toolLimits.append(
                "the load tool used \(BenchText.percent(self.toolShare)) of \(cores): the server may be faster (try more --threads, or a second machine)"
            )
        }
        if self.lateSends * 100 > self.sends {
            self.toolLimits.append(
                "\(self.lateSends) of \(self.sends) messages went out more than 10 ms late although there was room for them: the rate was not kept"
            )
        }
    }
}
