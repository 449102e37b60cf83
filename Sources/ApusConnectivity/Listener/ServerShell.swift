package import NIOConcurrencyHelpers
package import NIOCore
package import NIOSSL

/// The lifecycle of a server with its own listener: it listens, admits connections, requests them
/// to close in batches, and aborts the remaining ones at a deadline.
///
/// A conforming server defines the steps that depend on its protocol. Its `shutdown()` calls
/// ``drain()``.
package protocol ServerShell: Sendable {
    associatedtype State: DrainState

    /// The state of the server's connections.
    var state: NIOLockedValueBox<State> { get }
    /// The schedule of a shutdown.
    var drainSchedule: DrainSchedule { get }

    /// The protocols that the server selects with ALPN (RFC 7301).
    var applicationProtocols: [String] { get }

    /// Throws an error for an invalid configuration. Called before the server listens.
    func validate() throws

    /// Adds the handlers of an accepted connection, on its event loop. An error closes the
    /// connection.
    func configure(_ channel: any Channel, tls: NIOSSLContext?) throws

    /// Requests a connection to close, from any thread.
    func startClosing(_ connection: State.Connection)

    /// Closes the connections that remain at the deadline of a shutdown.
    func cutAll()

    /// Shuts the server down.
    func shutdown() async
}

extension ServerShell {
    package var applicationProtocols: [String] { ["http/1.1"] }

    /// Listens until the task is cancelled, then shuts down.
    ///
    /// - Parameters:
    ///   - address: The address on which to listen.
    ///   - tls: The settings of TLS; `nil` disables TLS.
    ///   - eventLoopGroup: The event loops of the connections.
    ///   - onListening: Called once with the address in use.
    /// - Throws: The error of ``validate()``, `ConnectivityError` for invalid TLS settings, or the
    ///   system's error if the address cannot be bound. Does not throw when cancelled.
    package func serve(
        on address: ListenerAddress, tls: TLSServerSettings?, _ eventLoopGroup: any EventLoopGroup, onListening: (SocketAddress) -> Void
    ) async throws {
        try self.validate()
        let context = try tls?.makeContext(applicationProtocols: self.applicationProtocols)
        try await Listener.run(on: address, eventLoopGroup, onListening: onListening) { try self.configure($0, tls: context) }
        await self.shutdown()
    }

    /// Counts a channel in a quota until it closes. Returns `false` if the quota refuses it.
    ///
    /// - Parameters:
    ///   - channel: The accepted connection.
    ///   - countsAddress: Whether to count by the peer's address. Behind a reverse proxy, this is
    ///     the address of the proxy.
    ///   - quota: The quota in the server's state.
    package func admit(
        _ channel: any Channel, countsAddress: Bool, in quota: any WritableKeyPath<State, ConnectionQuota> & Sendable
    ) -> Bool {
        let key = countsAddress ? ClientAddress.key(of: channel.remoteAddress) : nil
        let state = self.state
        guard state.withLockedValue({ $0[keyPath: quota].opened(from: key) }) == nil else { return false }
        channel.closeFuture.whenComplete { _ in state.withLockedValue { $0[keyPath: quota].closed(from: key) } }
        return true
    }

    /// Refuses new connections, requests the open ones to close, and waits until they have closed.
    /// See ``NIOLockedValueBox/drain(_:pace:telling:cutting:)``.
    package func drain() async {
        let connections = self.state.withLockedValue { state in
            state.refuseNewConnections()
            return state.openConnections
        }
        await self.state.drain(connections, pace: self.drainSchedule, telling: self.startClosing, cutting: self.cutAll)
    }
}
