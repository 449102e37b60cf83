package import ApusEventLoop
package import NIOCore

/// Decides when a persistent connection is attempted: the shell of ``ReconnectionStateMachine``,
/// with its timer and its observation of the network.
///
/// The owner opens the connection and reports its events. The network is observed while a
/// connection is requested. Confined to its event loop.
package final class Reconnector {
    /// The network that an owner observes.
    package struct Network: Sendable {
        let monitor: NetworkPathMonitor
        let host: String

        /// - Parameters:
        ///   - monitor: The source of network changes.
        ///   - host: The server's host. A server on this machine needs no network.
        package init(_ monitor: NetworkPathMonitor, host: String) {
            self.monitor = monitor
            self.host = host
        }
    }

    private let eventLoop: any EventLoop
    private var machine: ReconnectionStateMachine
    private var generator = SystemRandomNumberGenerator()
    private let network: Network?
    private var watch: NetworkWatch
    private var timer: Scheduled<Void>?

    /// The callback that makes the attempt with the given number. Called after a wait, when a route
    /// is found, or by ``retryNow()``.
    package var onAttempt: (Int) -> Void = { _ in }
    /// Called when a route is found or has changed while no attempt is waiting. An open connection
    /// may then be dead.
    package var onRouteChange: () -> Void = {}

    /// - Parameters:
    ///   - policy: The delays and the number of attempts.
    ///   - network: The network to observe; `nil` ignores the network.
    ///   - eventLoop: The event loop of the timer.
    package init(policy: ReconnectionPolicy, network: Network?, on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.machine = ReconnectionStateMachine(policy: policy)
        self.network = network
        self.watch = NetworkWatch(host: network?.host ?? "")
    }

    /// Whether a connection is requested.
    package var isActive: Bool { self.machine.isActive }

    /// The number of the current attempt after a loss; 0 for the first connection or an open one.
    package var attempt: Int { self.machine.attempt }

    // MARK: The user

    /// Requests a connection. If the result is `connect`, the owner makes the first attempt.
    package func start() -> ReconnectionStateMachine.StartAction {
        self.watchNetwork()
        return self.machine.start()
    }

    /// Ends the request for a connection and the observation of the network.
    package func stop() {
        self.machine.stop()
        self.cancelTimer()
        self.watch.stop()
        _ = self.machine.routeFound()  // a network that is not observed is assumed to have a route
    }

    /// Ends a wait and makes the next attempt now, regardless of the network.
    package func retryNow() {
        guard case .connect(let attempt) = self.machine.retryNow() else { return }
        self.makeAttempt(attempt)
    }

    // MARK: The connection

    /// Reports a connection that is open and ready for use.
    @discardableResult
    package func opened() -> ReconnectionStateMachine.OpenedAction { self.machine.opened(at: self.now) }

    /// Reports a failed attempt or the loss of the connection. Starts the wait before the next
    /// attempt, or stops if the policy or the decision permits no further attempt.
    package func lost(_ decision: RetryDecision = .retry) -> ReconnectionStateMachine.LostAction {
        let action = self.machine.lost(at: self.now, decision: decision, using: &self.generator)
        switch action {
        case .retry(let delay, _):
            self.timer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
                guard let self, case .connect(let attempt) = self.machine.timerFired() else { return }
                self.makeAttempt(attempt)
            }
        case .giveUp: self.stop()
        case .waitForRoute, .doNothing: break
        }
        return action
    }

    private func makeAttempt(_ attempt: Int) {
        self.cancelTimer()
        self.onAttempt(attempt)
    }

    private func cancelTimer() {
        self.timer?.cancel()
        self.timer = nil
    }

    /// The time since a fixed moment, used to measure the policy's stable time.
    private var now: Duration { Duration(self.eventLoop.now - .uptimeNanoseconds(0)) }

    // MARK: The network

    private func watchNetwork() {
        guard let network = self.network, !self.watch.isWatching else { return }
        let reference = WeakLoopBound(self, on: self.eventLoop)
        // Handles the report in a later turn, because the first report may precede the return of
        // `listen`.
        self.watch.started(network.monitor.listen { path in reference.inLaterTurn { $0.networkChanged(to: path) } })
    }

    private func networkChanged(to path: NetworkPath) {
        guard self.watch.isWatching else { return }  // reported before the observation ended
        switch self.watch.changed(to: path) {
        case .lost: if case .cancelTimer = self.machine.routeLost() { self.cancelTimer() }
        case .found:
            switch self.machine.routeFound() {
            case .connect(let attempt): self.makeAttempt(attempt)
            case .doNothing: self.onRouteChange()
            }
        case .doNothing: break
        }
    }
}

@available(*, unavailable)
extension Reconnector: Sendable {}
