import ApusConnectivity
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
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let attempts = ReconnectionAttempts(policy: policy, network: configuration.network(for: host), on: eventLoop)
        defer { attempts.stop() }
        while true {
            try await attempts.next()
            let failure: any Error
            do {
                let connection = try await self.connect(to: .host(host, port: port), configuration: configuration, on: eventLoop)
                switch try await attempts.opened() {
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
            switch try await attempts.lost(decision) {
            case .retry(let pause, let attempt): onEvent(.retrying(error: failure, after: pause, attempt: attempt))
            case .waitForRoute(let attempt): onEvent(.waitingForNetwork(error: failure, attempt: attempt))
            case .giveUp, .doNothing: throw failure
            }
        }
    }
}

/// An error of `body` that ends the reconnection.
private struct Thrown: Error {
    var error: any Error
}
