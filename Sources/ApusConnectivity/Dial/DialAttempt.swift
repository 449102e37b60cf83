package import NIOCore
import NIOPosix
import NIOSSL

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One attempt to open a connection. Ends exactly once: connected, failed, timed out or cancelled.
///
/// Confined to its event loop.
package final class DialAttempt {
    private let dialer: Dialer
    private let target: Dialer.Target
    private let name: String?
    private let eventLoop: any EventLoop
    private let promise: EventLoopPromise<any Channel>
    private var channel: (any Channel)?
    private var gate: DialCompletionHandler?
    private var timer: Scheduled<Void>?
    private var hasEnded = false

    init(dialer: Dialer, target: Dialer.Target, name: String?, eventLoop: any EventLoop) {
        self.dialer = dialer
        self.target = target
        self.name = name
        self.eventLoop = eventLoop
        self.promise = eventLoop.makePromise()
    }

    /// Succeeds with the connected channel, or fails with a ``ConnectivityError``.
    ///
    /// Callbacks added with `assumeIsolated()` run before the server's first byte is forwarded.
    /// Handlers that they append to the pipeline therefore receive every byte.
    package var futureResult: EventLoopFuture<any Channel> { self.promise.futureResult }

    /// Cancels the attempt: ``futureResult`` fails with `cancelled`. Does nothing after the attempt
    /// has ended.
    package func cancel() {
        self.fail(ConnectivityError(.cancelled, message: "the connection attempt was cancelled"))
    }

    private func startTimer(_ timeout: Duration, _ error: ConnectivityError) {
        self.timer?.cancel()
        self.timer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { self.fail(error) }
    }

    private func connectTimeout(cause: (any Error)? = nil) -> ConnectivityError {
        let setting = self.dialer.timeoutSetting ?? "connectTimeout"
        return ConnectivityError(
            .timeout, message: "the connection was not complete within \(self.dialer.connectTimeout) (`\(setting)`)", cause: cause)
    }

    func fail(_ error: ConnectivityError) {
        guard !self.hasEnded else { return }
        self.end()
        self.channel?.close(promise: nil)
        self.promise.fail(error)
    }

    private func end() {
        self.hasEnded = true
        self.timer?.cancel()
        self.timer = nil
        self.gate?.attempt = nil
    }

    // MARK: Steps

    func start() {
        self.startTimer(self.dialer.connectTimeout, self.connectTimeout())
        do {
            var bootstrap = ClientBootstrap(group: self.eventLoop).connectTimeout(TimeAmount(self.dialer.connectTimeout))
            if let resolver = self.dialer.resolver { bootstrap = bootstrap.resolver(resolver) }
            switch self.target {
            case .unixSocket(let path):
                self.connect(bootstrap.connect(unixDomainSocketPath: path), proxy: nil)
            case .host(let host, let port):
                guard !host.isEmpty, !host.utf8.contains(0), (1...65535).contains(port) else {
                    throw ConnectivityError(
                        .invalidConfiguration, message: "the target must have a host and a port from 1 to 65535, not \(host):\(port)")
                }
                if let local = self.dialer.localAddress { bootstrap = bootstrap.bind(to: try Self.address(local)) }
                let proxy = try self.dialer.proxy.proxy(
                    forHost: host, port: port, isSecure: self.dialer.tls != nil, environment: self.dialer.environment())
                bootstrap = bootstrap.channelOption(.socketOption(.tcp_nodelay), value: 1)
                self.connect(bootstrap.connect(host: proxy?.host ?? host, port: proxy?.port ?? port), proxy: proxy)
            }
        } catch {
            self.fail(
                error as? ConnectivityError ?? ConnectivityError(.invalidConfiguration, message: "the target is invalid", cause: error))
        }
    }

    private static func address(_ text: String) throws(ConnectivityError) -> SocketAddress {
        do {
            return try SocketAddress(ipAddress: text, port: 0)
        } catch {
            throw ConnectivityError(.invalidConfiguration, message: "`localAddress` must be an IP address, not \(text)", cause: error)
        }
    }

    private func connect(_ connection: EventLoopFuture<any Channel>, proxy: ProxySettings.Proxy?) {
        connection.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let channel): self.connected(channel, proxy: proxy)
            case .failure(let error): self.fail(self.error(connecting: error))
            }
        }
    }

    private func error(connecting error: any Error) -> ConnectivityError {
        if let failure = error as? NIOConnectionError {
            if failure.connectionErrors.isEmpty, failure.dnsAError != nil || failure.dnsAAAAError != nil {
                return ConnectivityError(.nameResolution, message: "no address was found for the name \(failure.host)", cause: error)
            }
            return ConnectivityError(.connectFailed, message: "could not connect to \(failure.host):\(failure.port)", cause: error)
        }
        if case ChannelError.connectTimeout = error { return self.connectTimeout(cause: error) }
        return ConnectivityError(.connectFailed, message: "could not connect", cause: error)
    }

    private func connected(_ channel: any Channel, proxy: ProxySettings.Proxy?) {
        guard !self.hasEnded else {
            channel.close(promise: nil)  // the attempt ended before the connection was established
            return
        }
        self.channel = channel
        let gate = DialCompletionHandler(attempt: self)
        self.gate = gate
        do {
            try channel.pipeline.syncOperations.addHandler(gate)
            guard let proxy, case .host(let host, let port) = self.target else { return self.secure() }
            let handler = ProxyHandler(try ProxyHandshake(proxy, host: host, port: port)) { result in
                switch result {
                case .success: self.secure()
                case .failure(let error): self.fail(error)
                }
            }
            try channel.pipeline.syncOperations.addHandler(handler, position: .first)
        } catch {
            self.fail(
                error as? ConnectivityError
                    ?? ConnectivityError(.connectionLost, message: "the connection ended before it was ready", cause: error))
        }
    }

    // MARK: TLS

    private func secure() {
        guard !self.hasEnded else { return }
        guard let settings = self.dialer.tls else { return self.finish() }
        let setting = self.dialer.timeoutSetting ?? "tlsTimeout"
        self.startTimer(
            self.dialer.tlsTimeout,
            ConnectivityError(.timeout, message: "the TLS handshake was not complete within \(self.dialer.tlsTimeout) (`\(setting)`)"))
        var host = self.name
        if host == nil, case .host(let name, _) = self.target { host = name }
        TLSClientContext.make(
            settings: settings, host: host, applicationProtocols: self.dialer.applicationProtocols, on: self.eventLoop
        ).assumeIsolated().whenComplete { result in
            guard !self.hasEnded, let channel = self.channel else { return }
            do {
                // The check runs after the context was created: bytes received before TLS must not
                // be treated as bytes that the server sent over TLS.
                guard self.gate?.isBufferEmpty == true else {
                    throw ConnectivityError(.proxyProtocol, message: "the proxy or the server sent bytes before the TLS handshake")
                }
                let (handler, check) = try result.get().makeHandler()
                self.gate?.expectsTLS(handler, check)
                try channel.pipeline.syncOperations.addHandler(handler, position: .first)
            } catch {
                self.fail(
                    error as? ConnectivityError
                        ?? ConnectivityError(.invalidConfiguration, message: "TLS could not be set up", cause: error))
            }
        }
    }

    // MARK: Completion

    /// Completes the attempt with the connected channel.
    func finish() {
        guard !self.hasEnded, let channel = self.channel, let gate = self.gate else { return }
        self.end()
        self.promise.succeed(channel)
        channel.pipeline.syncOperations.removeHandler(gate, promise: nil)
    }
}

@available(*, unavailable)
extension DialAttempt: Sendable {}
