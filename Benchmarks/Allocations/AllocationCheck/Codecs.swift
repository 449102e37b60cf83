import BenchmarkWork

/// Codecs, state machines and routes, without a socket.
enum Codecs {
    private static let rounds = 200

    static let all: [Measure] = Work.all.map { work in
        (work.name, { try Self.count(work) })
    }

    private static func count(_ work: Work) throws -> Double {
        let run = try work.make()
        return try allocations(messages: Self.rounds) { try run(Self.rounds) }
    }

    /// Runs the work without counting, for callgrind: `AllocationCheck --run NAME ROUNDS`.
    static func run(_ name: String, rounds: Int) throws -> Bool {
        guard let work = Work.all.first(where: { $0.name == name }) else { return false }
        try work.make()(rounds)
        return true
    }
}
