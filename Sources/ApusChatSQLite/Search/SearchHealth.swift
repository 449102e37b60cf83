import NIOConcurrencyHelpers

/// The state of the search index that its readers and its writer share. Readers report damage.
/// After the writer has rebuilt the index, the number of rebuilds makes readers attach the new
/// file.
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

    /// Records damage of the index file of a generation, unless a later generation has replaced the
    /// file.
    func damaged(_ generation: Int) {
        let report = self.state.withLockedValue { state -> (@Sendable () -> Void)? in
            guard !state.isDamaged, state.generation == generation else { return nil }
            state.isDamaged = true
            return state.report
        }
        report?()
    }

    /// Records that a new file has replaced the index file.
    func replaced() {
        self.state.withLockedValue { state in
            state.generation += 1
            state.isDamaged = false
        }
    }
}
