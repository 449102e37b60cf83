struct Options: Sendable {
    var seeds: ClosedRange<UInt64> = 1...100
    var traces = false
    var isBenchmark = false
    var listsPlanted = false
    var showsCoverage = false
    var bug: PlantedBug?
    /// The number of seeds that run at the same time; 0 selects the number of cores.
    var jobs = 0

    static let usage = """
        usage: scripts/simulate [--seeds A-B] [--seed N [--trace]] [--coverage] [--bench] [--jobs N] [--planted NAME]
          --seeds A-B     runs the seeds A to B (default: 1-100)
          --seed N        runs one seed; --trace prints every request and message
          --coverage      prints how often each kind of command and of incident occurred
          --bench         runs on one core and prints the steps a second
          --jobs N        the number of seeds at the same time (default: one a core)
          --planted NAME  with a planted bug: \(PlantedBug.allCases.map(\.rawValue).joined(separator: ", ")),
                          or `all` for the lowest seed that finds each
        """

    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--trace": self.traces = true
            case "--coverage": self.showsCoverage = true
            case "--bench":
                self.isBenchmark = true
                self.jobs = 1
            case "--seed":
                guard let seed = rest.popFirst().flatMap({ UInt64($0) }) else { return nil }
                self.seeds = seed...seed
            case "--seeds":
                let bounds = rest.popFirst()?.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0) } ?? []
                guard bounds.count == 2, let first = bounds[0], let last = bounds[1], first <= last else { return nil }
                self.seeds = first...last
            case "--jobs":
                guard let jobs = rest.popFirst().flatMap({ Int($0) }), jobs > 0 else { return nil }
                self.jobs = jobs
            case "--planted":
                guard let name = rest.popFirst() else { return nil }
                if name == "all" {
                    self.listsPlanted = true
                } else {
                    guard let bug = PlantedBug(rawValue: name) else { return nil }
                    self.bug = bug
                }
            default: return nil
            }
        }
    }
}
