import Foundation

/// Runs many seeds, several at the same time.
struct Runner {
    let options: Options

    struct Report {
        var seeds = 0
        var steps = 0
        var events = 0
        var deliveries = 0
        var digest: UInt64 = 0
        var failures: [Simulation.Outcome] = []
        var seconds = 0.0
        var jobs = 1

        /// The last line of a run.
        var summary: String {
            let rate = Int(Double(self.steps) / max(self.seconds, 0.001))
            return """
                \(self.seeds) seeds, \(self.steps) steps, \(self.events) events, \(self.deliveries) pushes in \
                \(String(format: "%.1f", self.seconds)) s with \(self.jobs) jobs: \(rate) steps a second, \(self.failures.count) failed, \
                digest \(String(self.digest, radix: 16))
                """
        }
    }

    func run() async -> Report {
        var report = Report()
        report.jobs = self.options.jobs > 0 ? self.options.jobs : ProcessInfo.processInfo.activeProcessorCount
        let begin = ContinuousClock.now
        await withTaskGroup(of: Simulation.Outcome.self) { group in
            var next = self.options.seeds.lowerBound
            let bug = self.options.bug
            func start() {
                guard next <= self.options.seeds.upperBound else { return }
                let seed = next
                next += 1
                group.addTask { Simulation(seed: seed, bug: bug).run() }
            }
            for _ in 0..<report.jobs { start() }
            for await outcome in group {
                report.add(outcome)
                if report.failures.count < 10 { start() }
            }
        }
        let elapsed = (ContinuousClock.now - begin).components
        report.seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
        return report
    }
}

extension Runner.Report {
    mutating func add(_ outcome: Simulation.Outcome) {
        self.seeds += 1
        self.steps += outcome.steps
        self.events += outcome.events
        self.deliveries += outcome.deliveries
        self.digest ^= outcome.digest &* (2 &* outcome.seed &+ 1)  // does not depend on the order
        guard !outcome.faults.isEmpty else { return }
        self.failures.append(outcome)
        print(outcome.text)
        fflush(nil)  // also into a file at once
    }
}

extension Simulation.Outcome {
    var text: String {
        guard !self.faults.isEmpty else {
            return "seed \(self.seed): \(self.steps) steps, no fault, digest \(String(self.digest, radix: 16))"
        }
        let lines = self.faults.map { "  \($0)" }.joined(separator: "\n")
        return "seed \(self.seed) failed after \(self.steps) steps. Replay: scripts/simulate --seed \(self.seed) --trace\n\(lines)"
    }
}
