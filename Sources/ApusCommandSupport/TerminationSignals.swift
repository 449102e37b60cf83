import UnixSignals

/// Ctrl-C and SIGTERM, so that a connection can be closed in order first.
package enum TerminationSignals {
    /// Waits for one of them; answers `false` when the task is cancelled before.
    package static func wait() async -> Bool {
        for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return true }
        return false
    }

    /// Runs `body`, and cancels it when one of them comes; then waits for its end.
    package static func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(operation: body)
            group.addTask { _ = await Self.wait() }
            _ = try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
