import Foundation
import NIOConcurrencyHelpers
import UnixSignals

/// Ctrl-C and SIGTERM: the first ends in order, the second at once.
enum TransferInterruption {
    /// Runs `body`, and cancels it at the first signal.
    ///
    /// - Parameters:
    ///   - onFirst: Called at the first signal, before the cancellation.
    ///   - onSecond: Called at the second, before the process ends.
    /// - Returns: What `body` did, and the exit code of the signal if there was one: 130 or 143, as of a process that dies of it.
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
