/// A comparison of two results.
struct BenchComparison {
    /// The relative difference that two runs of the same load can have on a shared machine. A
    /// smaller change is reported as `same`.
    static let noise = 0.05

    struct Row: Equatable {
        enum Verdict: String, Equatable { case better, worse, same }

        var name: String
        var before: Double
        var after: Double
        var verdict: Verdict
        var unit: Unit

        enum Unit { case number, microseconds, bytes }

        var ratio: Double { self.after / self.before }
    }

    let rows: [Row]
    /// The reasons why the results may not be comparable.
    let doubts: [String]

    init(_ before: BenchReport, _ after: BenchReport) {
        var rows: [Row] = []
        func add(_ name: String, _ unit: Row.Unit = .number, moreIsBetter: Bool = true, _ value: (BenchReport) -> Double?) {
            guard let old = value(before), let new = value(after), old > 0, new > 0 else { return }
            let ratio = new / old
            let verdict: Row.Verdict =
                abs(ratio - 1) < Self.noise ? .same : (ratio > 1) == moreIsBetter ? .better : .worse
            rows.append(Row(name: name, before: old, after: new, verdict: verdict, unit: unit))
        }
        add("messages per second") { $0.messagesPerSecond }
        add("messages per CPU-second") { $0.messages > 0 ? $0.messagesPerServerCPUSecond : nil }
        for (name, path) in [("p50", \BenchReport.Latency.p50), ("p90", \.p90), ("p99", \.p99), ("p99.9", \.p999)] {
            add("latency \(name)", .microseconds, moreIsBetter: false) { $0.latency?[keyPath: path] }
        }
        add("set-ups per second") { $0.setUp.opened >= 100 ? $0.setUp.perSecond : nil }
        add("set-ups per CPU-second") { $0.setUp.opened >= 100 ? $0.setUp.perServerCPUSecond : nil }
        add("memory per connection", .bytes, moreIsBetter: false) { $0.setUp.opened >= 100 ? $0.residentPerConnection : nil }
        self.rows = rows

        var doubts: [String] = []
        if before.load != after.load { doubts.append("the loads differ: \"\(before.load)\" and \"\(after.load)\"") }
        for (name, report) in [("first", before), ("second", after)] {
            doubts += report.toolLimits.map { "the \(name) run: \($0)" }
            if report.unanswered > 0 { doubts.append("the \(name) run: \(report.unanswered) messages were not answered") }
            if report.lost > 0 { doubts.append("the \(name) run: \(report.lost) connections were lost") }
        }
        self.doubts = doubts
    }

    /// The comparison as a table, followed by the reasons for doubt.
    var lines: [String] {
        let cells = self.rows.map { row in
            [
                row.name, Self.text(row.before, row.unit), Self.text(row.after, row.unit), "\(BenchText.number(row.ratio)) ×",
                row.verdict == .same ? "" : row.verdict.rawValue,
            ]
        }
        let widths = (0..<5).map { column in cells.map { $0[column].count }.max() ?? 0 }
        let table = cells.map { row in
            zip(row, widths).map { $0.padded(to: $1 + 2) }.joined().trimmingSuffixSpaces()
        }
        return table + self.doubts.map { "! \($0)" }
    }

    private static func text(_ value: Double, _ unit: Row.Unit) -> String {
        switch unit {
        case .number: BenchText.number(value)
        case .microseconds: BenchText.time(microseconds: value)
        case .bytes: BenchText.bytes(value)
        }
    }
}

extension String {
    fileprivate func trimmingSuffixSpaces() -> String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
