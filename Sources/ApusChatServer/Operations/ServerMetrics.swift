import HTTPTypes
import NIOConcurrencyHelpers

/// The counters of a server, and their text for Prometheus.
///
/// Source: the text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).
final class ServerMetrics: Sendable {
    private struct Counts {
        /// By the first digit of the status.
        var answers: [Int: Int] = [:]
        /// The number of answers that took at most the bound of the same index.
        var durations = [Int](repeating: 0, count: ServerMetrics.bounds.count)
        var totalSeconds = 0.0
        var answerCount = 0
    }

    /// In seconds.
    private static let bounds = [0.005, 0.025, 0.1, 0.5, 2.5, 10.0]
    private let counts = NIOLockedValueBox(Counts())

    /// Counts an answer of the HTTP interface.
    func answered(_ status: HTTPResponse.Status, in duration: Duration) {
        let seconds = duration / .seconds(1)
        self.counts.withLockedValue { counts in
            counts.answers[status.code / 100, default: 0] += 1
            counts.totalSeconds += seconds
            counts.answerCount += 1
            for (index, bound) in Self.bounds.enumerated() where seconds <= bound { counts.durations[index] += 1 }
        }
    }

    /// The values at the moment of a request.
    struct Gauges {
        var clients: Int
        var isWritable: Bool
        var uptimeSeconds: Int64
    }

    func text(_ gauges: Gauges) -> String {
        let counts = self.counts.withLockedValue { $0 }
        var lines: [String] = []
        func add(_ name: String, _ type: String, _ help: String, _ samples: [(String, String)]) {
            lines += ["# HELP \(name) \(help)", "# TYPE \(name) \(type)"] + samples.map { "\(name)\($0.0) \($0.1)" }
        }
        add("apus_chat_clients", "gauge", "Connected Socket.IO clients.", [("", "\(gauges.clients)")])
        add("apus_chat_writable", "gauge", "1 if messages can be written, else 0.", [("", gauges.isWritable ? "1" : "0")])
        add("apus_chat_uptime_seconds", "gauge", "Time since the start.", [("", "\(gauges.uptimeSeconds)")])
        add(
            "apus_chat_http_answers_total", "counter", "Answers of the HTTP interface by the class of their status.",
            (1...5).map { ("{status=\"\($0)xx\"}", "\(counts.answers[$0] ?? 0)") })
        let buckets = zip(Self.bounds, counts.durations).map { ("_bucket{le=\"\($0)\"}", "\($1)") }
        add(
            "apus_chat_http_answer_seconds", "histogram", "Time from a request to the start of its answer.",
            buckets + [
                ("_bucket{le=\"+Inf\"}", "\(counts.answerCount)"), ("_sum", "\(counts.totalSeconds)"), ("_count", "\(counts.answerCount)"),
            ])
        return lines.joined(separator: "\n") + "\n"
    }
}
