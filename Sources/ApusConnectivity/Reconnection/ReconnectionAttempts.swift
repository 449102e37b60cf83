package import ApusEventLoop
package import NIOCore

/// Provides the attempts of a ``Reconnector`` to a task that opens the connections itself.
///
/// ```swift
/// defer { attempts.stop() }
/// while true {
///     try await attempts.next()
///     do { … attempts.opened() … } catch { guard case .retry = try await attempts.lost(…) … }
/// }
/// ```
package struct ReconnectionAttempts: Sendable {
    private final class Confined {
        let reconnector: Reconnector
        private var waiting: LoopOperation<Void>?
        /// Whether an attempt became due before the task waited for it.
        private var isDue = false

        init(_ reconnector: Reconnector) {
            self.reconnector = reconnector
            reconnector.onAttempt = { [weak self] _ in self?.becameDue() }
        }

        private func becameDue() {
            if let waiting = self.waiting.take(), waiting.isRunning { waiting.succeed() } else { self.isDue = true }
        }

        func wait(_ operation: LoopOperation<Void>) {
            if !self.reconnector.isActive, case .connect = self.reconnector.start() { return operation.succeed() }
            guard !self.isDue else {
                self.isDue = false
                return operation.succeed()
            }
            self.waiting = operation
        }
    }

    private let confined: NIOLoopBoundBox<Confined>

    /// - Parameters:
    ///   - policy: The delays and the number of attempts.
    ///   - network: The network to observe; `nil` ignores the network.
    ///   - eventLoop: The event loop of the timer.
    package init(policy: ReconnectionPolicy, network: Reconnector.Network?, on eventLoop: any EventLoop) {
        self.confined = .sending(Confined(Reconnector(policy: policy, network: network, on: eventLoop)), to: eventLoop)
    }

    /// Waits until an attempt is due: the first one immediately, unless there is no route.
    ///
    /// - Parameter timeout: The maximum wait, and the error after it; `nil` for no limit.
    /// - Throws: The error of `timeout`; `CancellationError` if the task is cancelled.
    package func next(within timeout: (Duration, any Error)? = nil) async throws {
        let confined = self.confined
        try await withLoopOperation(on: confined.eventLoop, returning: Void.self) { operation in
            if let (timeout, error) = timeout { operation.expire(in: timeout) { error } }
            confined.value.wait(operation)
        }
    }

    /// Reports that the connection is open.
    package func opened() async throws -> ReconnectionStateMachine.OpenedAction {
        try await self.confined.eventLoop.submit { [confined] in confined.value.reconnector.opened() }.get()
    }

    /// Reports that the attempt failed or that the connection was lost.
    package func lost(_ decision: RetryDecision) async throws -> ReconnectionStateMachine.LostAction {
        try await self.confined.eventLoop.submit { [confined] in confined.value.reconnector.lost(decision) }.get()
    }

    /// Ends the attempts and the observation of the network.
    package func stop() {
        self.confined.onLoop { $0.reconnector.stop() }
    }
}
