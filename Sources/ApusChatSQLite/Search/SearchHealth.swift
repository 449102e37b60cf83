import NIOConcurrencyHelpers

/// Damage of the search index, which readers report to the writer, and the number of times that the
/// writer has rebuilt it, after which readers attach the new file.
final class SearchHealth: Sendable {
    private struct State {
        var generation = 0
        var isDamaged = false
        var report: (@Sendable () -> Void)?
    }

    private let state = NIOLockedValueBox(State())

    var generation: Int { self.state.withLockedValue { $0.generation } }
    var isDamaged: Bool { self.state.withLockedValue { $0.isDamaged } }

    /// Calls `report` after each damage that a reader finds.
    func whenDamaged(_ report: @escaping @Sendable () -> Void) { self.state.withLockedValue { $0.report = report } }

    /// Records damage of the file that had this number, unless the file was replaced since then.
    func damaged(_ generation: Int) {
        let report = self.state.withLockedValue { state -> (@Sendable () -> Void)? in
            guard !state.isDamaged, state.generation == generation else { return nil }
            state.isDamaged = true
            return state.report
        }
        report?()
    }

    /// Records that a new file replaces the damaged one.
    func replaced() {
        self.state.withLockedValue { state in
            state.generation += 1
            state.isDamaged = false
        }
    }
}
