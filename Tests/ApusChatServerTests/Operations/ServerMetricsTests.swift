import Foundation
import HTTPTypes
import Testing

@testable import ApusChatServer

@Suite struct ServerMetricsTests {
    private let text = ServerMetrics().text(.init(clients: 3, isWritable: true, uptimeSeconds: 60))

    @Test func thePageListsTheMetricsOfTheCode() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/metrics.md").standardized
        let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `apus_") }
        #expect(rows.map(String.init) == ServerMetrics.Metric.allCases.map { "| `\($0.rawValue)` | \($0.type) | \($0.help) |" })
    }

    @Test(arguments: ServerMetrics.Metric.allCases)
    func eachMetricHasItsTypeAndSamples(metric: ServerMetrics.Metric) {
        let lines = self.text.split(separator: "\n")
        #expect(lines.contains("# TYPE \(metric.rawValue) \(metric.type)"))
        #expect(lines.contains { $0.hasPrefix(metric.rawValue) })
    }

    @Test func aDurationCountsInEachBucketThatIsLongEnough() {
        let metrics = ServerMetrics()
        metrics.responded(.ok, after: .milliseconds(30))
        metrics.responded(.notFound, after: .seconds(60))
        let text = metrics.text(.init(clients: 0, isWritable: true, uptimeSeconds: 0))
        for line in [
            "http_response_seconds_bucket{le=\"0.025\"} 0", "http_response_seconds_bucket{le=\"0.1\"} 1",
            "http_response_seconds_bucket{le=\"10.0\"} 1", "http_response_seconds_bucket{le=\"+Inf\"} 2", "http_response_seconds_sum 60.03",
            "http_responses_total{status=\"2xx\"} 1", "http_responses_total{status=\"4xx\"} 1", "http_responses_total{status=\"5xx\"} 0",
        ] {
            #expect(text.contains("\napus_chat_\(line)\n"))
        }
    }
}
