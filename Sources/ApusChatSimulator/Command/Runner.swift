#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Runs a range of seeds in parallel. After ten failures, starts no further seed.
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
        /// The processor time of all cores, in seconds.
        var cpuSeconds = 0.0
        var coverage = Coverage()
        var jobs = 1

        /// The last line of the output.
        var summary: String {
            let rate = Int(Double(self.steps) / max(self.seconds, 0.001))
            let coreRate = Int(Double(self.steps) / max(self.cpuSeconds, 0.001))
            return """
                \(self.seeds) seeds, \(self.steps) steps, \(self.events) events, \(self.deliveries) pushes in \
                \(Double(Int(self.seconds * 10)) / 10) s with \(self.jobs) jobs: \(rate) steps a second, \
                \(coreRate) in a second of a core, \(self.failures.count) failed, \
                digest \(String(self.digest, radix: 16))
                """
        }
    }

    func run() async -> Report {
        var report = Report()
        report.jobs = self.options.jobs > 0 ? self.options.jobs : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let begin = ContinuousClock.now
        let cpuBegin = clock()
        await withTaskGroup(of: Simulation.Outcome.self) { group in
            var seeds = self.options.seeds.makeIterator()
            let bug = self.options.bug
            func start() {
                guard let seed = seeds.next() else { return }
                group.addTask { Simulation(seed: seed, bug: bug).run() }
            }
            for _ in 0..<report.jobs { start() }
            for await outcome in group {
                report.add(outcome)
                if report.failures.count < 10 { start() }
            }
        }
        let elapsed = (ContinuousClock.now - begin).components
        report.cpuSeconds = Double(clock() - cpuBegin) / Double(CLOCKS_PER_SEC)
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
        self.coverage.add(outcome.coverage)
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
