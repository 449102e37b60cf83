import Benchmark
import BenchmarkWork
import CAllocationCounter

/// The benchmarks of every codec, state machine and route: wall clock, CPU time and allocations.
let benchmarks: @Sendable () -> Void = {
    let allocations = BenchmarkMetric.custom("allocations", polarity: .prefersSmaller, useScalingFactor: true)
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuTotal, allocations], warmupIterations: 2, scalingFactor: .kilo, maxDuration: .milliseconds(300),
        maxIterations: 100)
    for work in Work.all {
        Benchmark(work.name) { benchmark in
            let run = try work.make()
            try run(10)
            let before = apus_allocation_count()
            benchmark.startMeasurement()
            try run(benchmark.scaledIterations.count)
            benchmark.stopMeasurement()
            benchmark.measurement(allocations, Int(apus_allocation_count() - before))
        }
    }
}
