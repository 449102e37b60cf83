package import ApusConnectivity
public import ApusEventLoop
import ApusFramedProtocol
import NIOPosix

extension FramedClient {
    /// A state change of a connection that reconnects.
    public enum ReconnectionEvent: Sendable {
        /// The connection is open after this number of retries; 0 if the first attempt succeeded.
        case connected(attempts: Int)
        /// The connection dropped, or an attempt failed. The attempt with this number follows after
        /// the pause.
        case retrying(error: any Error, after: Duration, attempt: Int)
        /// The connection dropped, or an attempt failed, while this machine has no network. The
        /// attempt with this number follows when a network returns.
        case waitingForNetwork(error: any Error, attempt: Int)
    }

    /// Opens a connection and reopens it when it drops, until `body` returns.
    ///
    /// Calls `body` for each connection, then closes the connection and returns the result. When
    /// `body` throws after its connection dropped (``FramedClosure/isDrop``), the next connection
    /// is opened after the pause of the policy, or when a network returns
    /// (``FramedClientConfiguration/watchesNetwork``). Any other error of `body` is rethrown.
    ///
    /// - Parameters:
    ///   - host: A name or an address.
    ///   - port: The port.
    ///   - configuration: The configuration of each connection.
    ///   - policy: The pauses and the number of attempts. Default: pauses from half a second to 30
    ///     seconds, unlimited attempts.
    ///   - onEvent: Called for each connection, each pause and each wait for a network.
    ///   - isolation: The isolation of `body`. Default: the caller's.
    ///   - body: Receives the connection.
    /// - Throws: The last error when the policy permits no further attempt or another attempt
    ///   cannot fix the error; `CancellationError` when the task was cancelled.
    public static func withReconnection<Result>(
        host: String, port: Int, configuration: FramedClientConfiguration = .init(),
        policy: ReconnectionPolicy = .exponential(from: .milliseconds(500), to: .seconds(30)),
        isolation: isolated (any Actor)? = #isolation,
        onEvent: (ReconnectionEvent) -> Void = { _ in }, _ body: (FramedConnection) async throws -> Result
    ) async throws -> Result {
        try await self.withReconnection(
            to: .host(host, port: port), configuration: configuration, policy: policy, isolation: isolation, onEvent: onEvent, body)
    }

    /// A failed attempt to connect, or a connection that ended before `body` returned.
    package struct ReconnectionFailure {
        /// The error of the attempt, or of `body`.
        package let error: any Error
        /// Whether the connection was open.
        package let wasOpen: Bool
        /// How the connection dropped; `nil` if it was not open, or dropped after `body` threw.
        package let drop: FramedClosure?

        var cause: any Error { self.drop?.error ?? self.error }

        /// The decision to retry after a failed attempt and after a drop, except when another
        /// attempt cannot fix the error.
        package var decision: RetryDecision {
            guard !self.wasOpen || self.drop != nil else { return .giveUp }
            return RetryDecision(classifying: (self.cause as? FramedError)?.cause ?? self.cause)
        }
    }

    /// Opens a connection and reopens it as `decide` says; see
    /// ``withReconnection(host:port:configuration:policy:isolation:onEvent:_:)``.
    ///
    /// - Parameters:
    ///   - target: The server.
    ///   - maximumNetworkWait: The maximum time to wait for a network; `nil` for no limit.
    ///   - decide: Returns whether to retry after a failure. Not called for a cancellation. With
    ///     `giveUp`, the error of the failure is thrown.
    package static func withReconnection<Result>(
        to target: Dialer.Target, configuration: FramedClientConfiguration, policy: ReconnectionPolicy,
        maximumNetworkWait: Duration? = nil, isolation: isolated (any Actor)? = #isolation,
        decide: (ReconnectionFailure) -> RetryDecision = { $0.decision },
        onEvent: (ReconnectionEvent) -> Void = { _ in }, _ body: (FramedConnection) async throws -> Result
    ) async throws -> Result {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let attempts = ReconnectionAttempts(policy: policy, network: configuration.network(for: target), on: eventLoop)
        defer { attempts.stop() }
        var timeout: (Duration, any Error)?
        while true {
            try await attempts.next(within: timeout)
            var connection: FramedConnection?
            do {
                let new = try await self.connect(to: target, configuration: configuration, on: eventLoop)
                connection = new
                switch try await attempts.opened() {
                case .connected: onEvent(.connected(attempts: 0))
                case .reconnected(let attempts): onEvent(.connected(attempts: attempts))
                case .doNothing: break
                }
                let result = try await body(new)
                await new.close()
                return result
            } catch {
                let closure = connection?.closure
                await connection?.close()
                if error is CancellationError { throw error }
                let failure = ReconnectionFailure(
                    error: error, wasOpen: connection != nil, drop: closure?.isDrop == true ? closure : nil)
                let decision = decide(failure)
                timeout = nil
                switch try await attempts.lost(decision) {
                case .retry(let pause, let attempt): onEvent(.retrying(error: failure.cause, after: pause, attempt: attempt))
                case .waitForRoute(let attempt):
                    timeout = maximumNetworkWait.map { ($0, failure.cause) }
                    onEvent(.waitingForNetwork(error: failure.cause, attempt: attempt))
                case .giveUp, .doNothing: throw decision == .giveUp ? error : failure.cause
                }
            }
        }
    }
}
