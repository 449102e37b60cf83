import HTTPTypes
import NIOConcurrencyHelpers

/// The metrics of a chat server, and their text for Prometheus. HTTP responses are counted here;
/// the other values are read at each scrape. `docs/metrics.md` lists the metrics and describes how
/// to add one.
///
/// Source: the text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).
final class ServerMetrics: Sendable {
    /// A metric, by its name.
    enum Metric: String, CaseIterable {
        case clients = "apus_chat_clients"
        case writable = "apus_chat_writable"
        case uptime = "apus_chat_uptime_seconds"
        case httpResponses = "apus_chat_http_responses_total"
        case httpResponseTime = "apus_chat_http_response_seconds"

        var type: String {
            switch self {
            case .clients, .writable, .uptime: "gauge"
            case .httpResponses: "counter"
            case .httpResponseTime: "histogram"
            }
        }

        var help: String {
            switch self {
            case .clients: "Connected Socket.IO clients."
            case .writable: "1 if the server can store messages, otherwise 0."
            case .uptime: "Time since the start of the server, in seconds."
            case .httpResponses: "HTTP responses, by the class of their status."
            case .httpResponseTime: "Time from an HTTP request to the head of its response, in seconds."
            }
        }
    }

    private struct Counts {
        /// The number of responses, by the first digit of the status.
        var responses: [Int: Int] = [:]
        /// For each bucket, the number of responses whose duration was at most its upper bound.
        var durations = [Int](repeating: 0, count: ServerMetrics.bounds.count)
        var totalSeconds = 0.0
        var responseCount = 0
    }

    /// The upper bounds of the histogram's buckets, in seconds.
    private static let bounds = [0.005, 0.025, 0.1, 0.5, 2.5, 10.0]
    private let counts = NIOLockedValueBox(Counts())

    /// Counts an HTTP response.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - duration: The time from the head of the request to the head of the response.
    func responded(_ status: HTTPResponse.Status, after duration: Duration) {
        let seconds = duration / .seconds(1)
        self.counts.withLockedValue { counts in
            counts.responses[status.code / 100, default: 0] += 1
            counts.totalSeconds += seconds
            counts.responseCount += 1
            for (index, bound) in Self.bounds.enumerated() where seconds <= bound { counts.durations[index] += 1 }
        }
    }

    /// The values that are read at each scrape.
    struct Gauges {
        var clients: Int
        var isWritable: Bool
        var uptimeSeconds: Int64
    }

    func text(_ gauges: Gauges) -> String {
        let counts = self.counts.withLockedValue { $0 }
        let lines = Metric.allCases.flatMap { metric in
            ["# HELP \(metric.rawValue) \(metric.help)", "# TYPE \(metric.rawValue) \(metric.type)"]
                + Self.samples(of: metric, counts, gauges).map { "\(metric.rawValue)\($0.suffix) \($0.value)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func samples(of metric: Metric, _ counts: Counts, _ gauges: Gauges) -> [(suffix: String, value: String)] {
        switch metric {
        case .clients: [("", "\(gauges.clients)")]
        case .writable: [("", gauges.isWritable ? "1" : "0")]
        case .uptime: [("", "\(gauges.uptimeSeconds)")]
        case .httpResponses: (1...5).map { ("{status=\"\($0)xx\"}", "\(counts.responses[$0] ?? 0)") }
        case .httpResponseTime:
            zip(self.bounds, counts.durations).map { ("_bucket{le=\"\($0)\"}", "\($1)") } + [
                ("_bucket{le=\"+Inf\"}", "\(counts.responseCount)"), ("_sum", "\(counts.totalSeconds)"),
                ("_count", "\(counts.responseCount)"),
            ]
        }
    }
}
