public import ApusConnectivity
import ApusFramedProtocol

extension FramedClient {
    /// What becomes of a connection that is to stay up.
    public enum ReconnectionEvent: Sendable {
        /// It stands; `attempts` is 0 for the first connection.
        case connected(attempts: Int)
        /// It dropped, or an attempt failed; another follows after the pause.
        case retrying(error: any Error, after: Duration, attempt: Int)
    }

    /// Opens a connection and opens it again when it drops; ends when `body` returns.
    ///
    /// `body` is called for every connection. What it returns is returned, and the connection closed: the user's own end is never followed by
    /// another attempt. When it throws because its connection dropped (``FramedClosure/isDrop``), the next one is opened after the pause that
    /// the policy says; any other error it throws is thrown.
    ///
    /// - Parameters:
    ///   - host: A name or an address.
    ///   - port: The port.
    ///   - configuration: How each connection is opened.
    ///   - policy: When, and how often. Default: from half a second to 30 seconds, without end.
    ///   - onEvent: Hears of connections and of pauses.
    ///   - isolation: Where `body` runs. Default: the caller's.
    ///   - body: Gets the connection.
    /// - Throws: The last error when the policy gives up or the error says that another attempt is useless; `CancellationError`.
    public static func withReconnection<Result>(
        host: String, port: Int, configuration: FramedClientConfiguration = .init(),
        policy: ReconnectionPolicy = .exponential(from: .milliseconds(500), to: .seconds(30)),
        isolation: isolated (any Actor)? = #isolation,
        onEvent: (ReconnectionEvent) -> Void = { _ in }, _ body: (FramedConnection) async throws -> Result
    ) async throws -> Result {
        let clock = ContinuousClock()
        let start = clock.now
        var generator = SystemRandomNumberGenerator()
        var machine = ReconnectionStateMachine(policy: policy)
        _ = machine.start()
        while true {
            let failure: any Error
            do {
                let connection = try await self.connect(to: .host(host, port: port), configuration: configuration, on: nil)
                switch machine.opened(at: start.duration(to: clock.now)) {
                case .connected: onEvent(.connected(attempts: 0))
                case .reconnected(let attempts): onEvent(.connected(attempts: attempts))
                case .doNothing: break
                }
                do {
                    let result = try await body(connection)
                    await connection.close()
                    return result
                } catch {
                    let closure = connection.closure
                    await connection.close()
                    guard closure?.isDrop == true, !(error is CancellationError) else { throw Thrown(error: error) }
                    failure = closure?.error ?? error
                }
            } catch let thrown as Thrown {
                throw thrown.error
            } catch let error as CancellationError {
                throw error
            } catch {
                failure = error
            }
            let decision = RetryDecision(classifying: (failure as? FramedError)?.cause ?? failure)
            guard
                case .retry(let pause, let attempt) = machine.lost(
                    at: start.duration(to: clock.now), decision: decision, using: &generator)
            else { throw failure }
            onEvent(.retrying(error: failure, after: pause, attempt: attempt))
            try await Task.sleep(for: pause)
            _ = machine.timerFired()
        }
    }
}

/// An error of the user's, which no attempt follows.
private struct Thrown: Error {
    var error: any Error
}
