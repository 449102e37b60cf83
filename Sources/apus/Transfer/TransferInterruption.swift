import Foundation
import NIOConcurrencyHelpers
import UnixSignals

/// Handles SIGINT and SIGTERM: the first signal ends the run in order, the second ends it
/// immediately.
enum TransferInterruption {
    /// Runs `body`, and cancels it at the first signal.
    ///
    /// - Parameters:
    ///   - onFirst: The closure to call at the first signal, before the cancellation.
    ///   - onSecond: The closure to call at the second signal, before the process ends.
    /// - Returns: The result of `body`, and the exit code for the first signal, if any: 130 for
    ///   SIGINT, 143 for SIGTERM.
    static func run<Value: Sendable>(
        onFirst: @escaping @Sendable () -> Void, onSecond: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable () async throws -> Value
    ) async -> (result: Result<Value, any Error>, signal: Int32?) {
        let caught = NIOLockedValueBox<Int32?>(nil)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let work = Task { try await body() }
        let watch = Task {
            for await signal in signals {
                let code: Int32 = signal == .sigterm ? 143 : 130
                let isFirst = caught.withLockedValue { caught in
                    defer { caught = caught ?? code }
                    return caught == nil
                }
                guard isFirst else {
                    onSecond()
                    exit(code)
                }
                onFirst()
                work.cancel()
            }
        }
        let result = await work.result
        watch.cancel()
        return (result, caught.withLockedValue { $0 })
    }
}
