@testable import ApusConnectivity
import Testing

@Suite struct DrainPlanTests {
    /// A generator with a reproducible sequence.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return self.state
        }
    }

    private func run(_ count: Int, size: Int, gap: Duration, within period: Duration, seed: UInt64 = 1) -> (
        batches: [[Int]], gaps: [Duration]
    ) {
        var generator = Seeded(state: seed)
        var plan = DrainPlan(Array(0..<count), batchSize: size, gap: gap, within: period, using: &generator)
        var batches: [[Int]] = []
        var gaps: [Duration] = []
        while true {
            let (batch, next) = plan.nextBatch(using: &generator)
            batches.append(batch)
            guard let next else { return (batches, gaps) }
            gaps.append(next)
        }
    }

    @Test func eachConnectionIsNotifiedOnceInRandomOrder() {
        let (batches, gaps) = self.run(1000, size: 100, gap: .milliseconds(100), within: .seconds(10))
        #expect(batches.map(\.count) == Array(repeating: 100, count: 10))
        #expect(batches.flatMap { $0 }.sorted() == Array(0..<1000))
        #expect(batches.flatMap { $0 } != Array(0..<1000))
        #expect(gaps.count == 9)
        #expect(gaps.allSatisfy { $0 >= .milliseconds(50) && $0 <= .milliseconds(150) })
        #expect(Set(gaps).count > 1)
    }

    @Test(arguments: [1, 7, 20_000])
    func batchesGrowWhenTheTimeIsShort(seed: UInt64) {
        let (batches, gaps) = self.run(10_000, size: 10, gap: .milliseconds(100), within: .seconds(1), seed: seed)
        #expect(gaps.reduce(.zero, +) <= .seconds(1))
        #expect(batches.flatMap { $0 }.count == 10_000)
    }

    @Test func withoutTimeOrGapsThereIsOneBatch() {
        #expect(self.run(500, size: 10, gap: .milliseconds(100), within: .zero).batches.count == 1)
        #expect(self.run(500, size: 10, gap: .zero, within: .seconds(10)).batches.count == 1)
        #expect(self.run(0, size: 10, gap: .milliseconds(100), within: .seconds(10)).batches == [[]])
    }

    @Test func nonsenseInTheConfigurationIsHarmless() {
        #expect(self.run(10, size: 0, gap: .milliseconds(-5), within: .seconds(-1)).batches.flatMap { $0 }.count == 10)
        #expect(self.run(10, size: -3, gap: .milliseconds(1), within: .seconds(10)).batches.count == 10)
    }
}
