import Foundation
import Testing

@testable import ApusBench

struct BenchReportTests {
    static func report(messages: Int = 10_000, p99: Double = 500, toolCPU: Double = 0.5) -> BenchReport {
        BenchReport(
            load: "echo", url: "ws://a/", seconds: 1, messages: messages, size: 64, connections: 1,
            latency: .init(p50: 100, p90: 200, p99: p99, p999: 900, p9999: 1000, maximum: 1100, mean: 120), correctsOmission: false,
            unanswered: 0, lost: 0, setUp: .init(opened: 1, failed: 0, seconds: 0.1), toolCPUSeconds: toolCPU, toolCores: 1, sends: 0,
            lateSends: 0)
    }

    @Test func latenciesCountFromTheScheduledTime() throws {
        var statistics = BenchStatistics()
        for _ in 0..<99 { statistics.answered(sent: 1_000_000, at: 1_100_000) }
        statistics.answered(sent: 1_000_000, at: 51_000_000)
        let summary = try #require(statistics.summary)
        #expect(abs(summary.p50 - 100) < 0.5)
        #expect(abs(summary.maximum - 50_000) < 50)
        #expect(statistics.messages == 100)
    }

    @Test func loopsAreAddedUp() throws {
        var statistics = BenchStatistics()
        statistics.answered(sent: 0, at: 1_000_000)
        var other = BenchStatistics()
        other.answered(sent: 0, at: 3_000_000)
        other.abandoned(sent: 0, at: 9_000_000)
        statistics.add(other)
        #expect(statistics.messages == 2)
        #expect(statistics.unanswered == 1)
        #expect(abs(try #require(statistics.summary).maximum - 9000) < 10)
    }

    @Test func aToolThatIsTheLimitIsReported() {
        var busy = Self.report(toolCPU: 0.95)
        busy.judgeTool()
        #expect(busy.toolLimits.count == 1)
        #expect(busy.lines.contains { $0.contains("95 % of its one core") })
        var idle = Self.report(toolCPU: 0.89)
        idle.judgeTool()
        #expect(idle.toolLimits.isEmpty)
    }

    @Test(arguments: [(late: 10, limits: 0), (11, 1)])
    func lateSendsAreReported(late: Int, limits: Int) {
        var report = Self.report()
        report.sends = 1000
        report.lateSends = late
        report.judgeTool()
        #expect(report.toolLimits.count == limits)
    }

    @Test func aMessageIsLateAfterTenMilliseconds() {
        var statistics = BenchStatistics()
        statistics.becameDue(intended: 0, at: BenchStatistics.lateNanoseconds)
        statistics.becameDue(intended: 0, at: BenchStatistics.lateNanoseconds + 1)
        #expect(statistics.sends == 2)
        #expect(statistics.lateSends == 1)
    }

    @Test func jsonIsDecoded() throws {
        let report = Self.report()
        #expect(try JSONDecoder().decode(BenchReport.self, from: JSONEncoder().encode(report)) == report)
    }

    @Test func comparisonListsTheChanges() throws {
        let comparison = BenchComparison(Self.report(messages: 10_000, p99: 500), Self.report(messages: 12_000, p99: 600))
        let rate = try #require(comparison.rows.first { $0.name == "messages per second" })
        #expect(rate.verdict == .better)
        #expect(abs(rate.ratio - 1.2) < 1e-9)
        #expect(comparison.rows.first { $0.name == "latency p99" }?.verdict == .worse)
        #expect(comparison.rows.first { $0.name == "latency p50" }?.verdict == .same)
        #expect(comparison.doubts.isEmpty)
        #expect(comparison.lines.first == "messages per second  10,000  12,000  1.2 ×  better")
    }

    @Test func comparisonWarnsOfDifferentLoads() {
        var limited = Self.report(toolCPU: 1)
        limited.judgeTool()
        limited.load = "another"
        let doubts = BenchComparison(Self.report(), limited).doubts
        #expect(doubts.count == 2)
        #expect(doubts.first?.hasPrefix("the loads differ") == true)
    }

    @Test func theProcessTableIsReadAfterTheName() {
        let stat = "42 (a) b (c)) S 1 1 1 0 -1 4194560 1 0 0 0 250 150 0 0 20 0 1 0 1 1 1"
        #expect(BenchProcess.cpuSeconds(stat: stat, ticksPerSecond: 100) == 4)
        #expect(BenchProcess.cpuSeconds(stat: "nothing", ticksPerSecond: 100) == nil)
    }
}

struct BenchTextTests {
    @Test(arguments: [
        (0.0, "0"), (1.234, "1.23"), (12.34, "12.3"), (99.96, "100"), (123.4, "123"), (1234.5, "1,235"), (1_234_567, "1,234,567"),
        (-1234, "-1,234"),
    ])
    func numbersAreGrouped(value: Double, text: String) { #expect(BenchText.number(value) == text) }

    @Test(arguments: [(0.5, "500 ns"), (62, "62 µs"), (1234, "1.23 ms"), (3_400_000, "3.4 s")])
    func timesHaveUnits(microseconds: Double, text: String) { #expect(BenchText.time(microseconds: microseconds) == text) }
}
