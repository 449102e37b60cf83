extension BenchReport {
    /// The result as lines for a terminal.
    var lines: [String] {
        var lines = ["\(self.url): \(self.load)"]
        func add(_ name: String, _ text: String) { lines.append("  " + name.padded(to: 11) + text) }
        if self.messages > 0 || self.unanswered > 0 {
            let bytes = BenchText.bytes(self.messagesPerSecond * Double(self.size))
            add(
                "messages",
                "\(BenchText.number(self.messagesPerSecond)) per second (\(BenchText.number(self.messages)) in "
                    + "\(BenchText.number(self.seconds)) s, \(bytes)/s of payload)"
            )
        }
        if let latency {
            add("latency", latency.text)
            add(
                "",
                self.correctsOmission
                    ? "from the scheduled send time" : "from the send time; excludes the wait for a free slot")
        }
        add("set-up", self.setUpText)
        if let server {
            let share = BenchText.percent(server.cpuSeconds / max(self.seconds, 1e-9))
            let efficiency = self.messages > 0 ? "\(BenchText.number(self.messagesPerServerCPUSecond ?? 0)) messages per CPU-second, " : ""
            let memory =
                "\(BenchText.bytes(Double(server.residentAfter))) resident"
                // With few connections the figure depends more on the allocator.
                + (self.setUp.opened < 500 ? "" : ", \(BenchText.bytes(self.residentPerConnection ?? 0)) more for each connection")
            add("server", "\(share) of a core, \(efficiency)\(memory)")
        }
        add("load tool", "\(BenchText.percent(self.toolShare)) of \(self.toolCores == 1 ? "one core" : "\(self.toolCores) cores")")
        if self.unanswered > 0 {
            add("!", "\(BenchText.number(self.unanswered)) messages were not answered; the latencies include the time they waited")
        }
        if self.lost > 0 { add("!", "\(BenchText.number(self.lost)) connections were lost") }
        for limit in self.toolLimits { add("!", limit) }
        return lines
    }

    private var setUpText: String {
        var text = "\(BenchText.number(self.setUp.opened)) connections in \(BenchText.number(self.setUp.seconds)) s"
        if self.setUp.opened > 1 { text += ", \(BenchText.number(self.setUp.perSecond)) per second" }
        if let perCPU = self.setUp.perServerCPUSecond, self.setUp.opened >= 100 {
            text += " (\(BenchText.number(perCPU)) per CPU-second of the server)"
        }
        if let latency = self.setUp.latency {
            text += ", p50 \(BenchText.time(microseconds: latency.p50)), p99 \(BenchText.time(microseconds: latency.p99))"
        }
        return self.setUp.failed > 0 ? text + "; \(BenchText.number(self.setUp.failed)) failed" : text
    }
}

extension BenchReport.Latency {
    var text: String {
        [("p50", self.p50), ("p90", self.p90), ("p99", self.p99), ("p99.9", self.p999), ("max", self.maximum)]
            .map { "\($0.0) \(BenchText.time(microseconds: $0.1))" }.joined(separator: "  ")
    }
}

extension String {
    /// Returns the string with spaces appended up to `width`, but at least one.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(width - self.count, 1)) }
}
