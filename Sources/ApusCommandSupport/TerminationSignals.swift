import UnixSignals

/// Handles SIGINT and SIGTERM, so that connections are closed in order before the process ends.
package enum TerminationSignals {
    /// Waits for a signal. Returns `true` after a signal, and `false` if the task is cancelled
    /// first.
    package static func wait() async -> Bool {
        for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return true }
        return false
    }

    /// Runs `body`, cancels it on a signal, and waits until it has returned.
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
