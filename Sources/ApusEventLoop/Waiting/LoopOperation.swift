package import NIOCore

/// Starts an operation on an event loop and waits until it ends.
///
/// The operation ends exactly once: with its result, with an error, at its deadline, or because the
/// task is cancelled. It is not started if the task is cancelled before.
///
/// ```swift
/// let roundTrip = try await withLoopOperation(on: eventLoop) { operation in
///     let id = pings.send { operation.end(with: $0) }
///     operation.whenCancelled { pings.abandon(id) }
///     operation.expire(in: timeout) { PingError.timeout }
/// }
/// ```
///
/// - Parameters:
///   - eventLoop: The event loop of the operation.
///   - start: Called on the event loop, immediately if the caller is on the event loop.
/// - Throws: The error of the operation; by default `CancellationError` if the task is cancelled.
package func withLoopOperation<Value: Sendable>(
    on eventLoop: any EventLoop, returning: Value.Type = Value.self,
    _ start: @escaping @Sendable (LoopOperation<Value>) -> Void
) async throws -> Value {
    let operation = LoopOperation<Value>(on: eventLoop)
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            eventLoop.runOnLoop { operation.start(continuation, start) }
        }
    } onCancel: {
        eventLoop.runOnLoop { operation.cancel() }
    }
}

/// An operation of an event loop for which a task waits. See
/// ``withLoopOperation(on:returning:_:)``.
///
/// Any thread may store the value. All methods must be called on the event loop.
package struct LoopOperation<Value: Sendable>: Sendable {
    private enum State {
        /// The operation was not started. Transitions to `running` or `ended` (cancelled).
        case created
        /// Transitions to `ended`.
        case running(Running)
        case ended
    }

    private struct Running {
        let continuation: CheckedContinuation<Value, any Error>
        var cancel: (() -> Void)?
        var timer: Scheduled<Void>?
    }

    private let state: NIOLoopBoundBox<State>

    fileprivate init(on eventLoop: any EventLoop) {
        self.state = .sending(.created, to: eventLoop)
    }

    /// Whether the operation is running.
    package var isRunning: Bool { if case .running = self.state.value { true } else { false } }

    // MARK: The task

    fileprivate func start(_ continuation: CheckedContinuation<Value, any Error>, _ body: (LoopOperation) -> Void) {
        guard case .created = self.state.value else { return continuation.resume(throwing: CancellationError()) }
        self.state.value = .running(Running(continuation: continuation))
        body(self)
    }

    fileprivate func cancel() {
        switch self.state.value {
        case .created: self.state.value = .ended
        case .running(let running): if let cancel = running.cancel { cancel() } else { self.fail(CancellationError()) }
        case .ended: break
        }
    }

    // MARK: The operation

    /// Ends the operation with its result. Has no effect if it has ended.
    package func succeed(_ value: Value) { self.end(with: .success(value)) }

    /// Ends the operation with an error. Has no effect if it has ended.
    package func fail(_ error: any Error) { self.end(with: .failure(error)) }

    /// Ends the operation. Has no effect if it has ended.
    package func end(with result: Result<Value, any Error>) {
        guard case .running(let running) = self.state.value else { return }
        self.state.value = .ended
        running.timer?.cancel()
        running.continuation.resume(with: result)
    }

    /// Sets the closure that is called when the task is cancelled. The closure must end the
    /// operation, immediately or later. Without the closure, a cancellation ends the operation with
    /// `CancellationError`.
    package func whenCancelled(_ cancel: @escaping () -> Void) {
        self.change { $0.cancel = cancel }
    }

    /// Sets a deadline, at which the operation ends with the error that `error` returns.
    package func expire(in timeout: Duration, _ error: @escaping () -> any Error) {
        self.change { running in
            running.timer?.cancel()
            running.timer = self.state.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
                if self.isRunning { self.fail(error()) }
            }
        }
    }

    private func change(_ body: (inout Running) -> Void) {
        guard case .running(var running) = self.state.value else { return }
        body(&running)
        self.state.value = .running(running)
    }
}

extension LoopOperation<Void> {
    /// Ends the operation. Has no effect if it has ended.
    package func succeed() { self.succeed(()) }
}

/// The operations that wait for the same event.
///
/// Confined to their event loop.
package struct LoopOperations<Value: Sendable> {
    private var running: [LoopOperation<Value>] = []

    /// Creates an empty list.
    package init() {}

    /// Adds an operation, and removes those that have ended.
    package mutating func append(_ operation: LoopOperation<Value>) {
        self.running.removeAll { !$0.isRunning }
        self.running.append(operation)
    }

    /// Removes and returns all operations, in the order in which they were added.
    package mutating func takeAll() -> [LoopOperation<Value>] {
        defer { self.running = [] }
        return self.running
    }
}
