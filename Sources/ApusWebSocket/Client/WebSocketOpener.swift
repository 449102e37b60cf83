import ApusConnectivity
import ApusWebSocketProtocol
import NIOCore
import HTTPTypes

/// One attempt to open a ``WebSocketConnection``. It computes the fields, connects and follows
/// redirects. It ends once.
///
/// Confined to its event loop.
final class WebSocketOpener {
    private let configuration: WebSocketClientConfiguration
    private let eventLoop: any EventLoop
    private let promise: EventLoopPromise<WebSocketConnection>
    private var redirects: WebSocketRedirects?
    private var attempt: WebSocketConnectionAttempt?
    private var headersTask: Task<Void, Never>?
    private var headersTimer: Scheduled<Void>?
    private var headersStartedAt = NIODeadline.uptimeNanoseconds(0)
    private var hasEnded = false

    /// Starts an attempt. Must be called on `eventLoop`.
    init(url: String, configuration: WebSocketClientConfiguration, eventLoop: any EventLoop) {
        eventLoop.assertInEventLoop()
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.promise = eventLoop.makePromise()
        do throws(WebSocketError) {
            try configuration.validate()
            let redirects = WebSocketRedirects(url: try configuration.url(url), maximum: configuration.maximumRedirects)
            self.redirects = redirects
            self.prepare(redirects)
        } catch {
            self.finish(.failure(error))
        }
    }

    /// The open connection, or the error of the attempt. Callbacks of `assumeIsolated()` run before
    /// the first message is read.
    var futureResult: EventLoopFuture<WebSocketConnection> { self.promise.futureResult }

    /// Cancels the attempt: the future fails with `CancellationError`. Has no effect if the attempt
    /// has ended.
    func cancel() {
        self.finish(.failure(CancellationError()))
    }

    private func finish(_ result: Result<WebSocketConnection, any Error>) {
        guard !self.hasEnded else { return }
        self.hasEnded = true
        self.headersTask?.cancel()
        self.headersTask = nil
        self.headersTimer?.cancel()
        self.headersTimer = nil
        let attempt = self.attempt
        self.attempt = nil
        attempt?.cancel()
        switch result {
        case .success(let connection): self.promise.assumeIsolated().succeed(connection)
        case .failure(let error): self.promise.fail(error)
        }
    }

    // MARK: Steps

    private func prepare(_ redirects: WebSocketRedirects) {
        guard let requestHeaders = self.configuration.requestHeaders, redirects.isSameOrigin else {
            return self.request(redirects, computed: [:], spent: .zero)
        }
        let eventLoop = self.eventLoop
        let box = NIOLoopBound(self, eventLoop: eventLoop)
        let url = redirects.url.description
        let timeout = self.configuration.connectTimeout
        self.headersStartedAt = eventLoop.now
        self.headersTimer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.finish(.failure(WebSocketError(.timeout, message: "`requestHeaders` did not return within \(timeout) (`connectTimeout`)")))
        }
        // `headersTask` is cancelled whenever the attempt ends.
        self.headersTask = Task {
            let result: Result<HTTPFields, any Error>
            do {
                result = .success(try await requestHeaders(url))
            } catch {
                result = .failure(error)
            }
            eventLoop.execute { box.value.prepared(result) }
        }
    }

    private func prepared(_ result: Result<HTTPFields, any Error>) {
        guard !self.hasEnded, let redirects = self.redirects else { return }
        self.headersTask = nil
        self.headersTimer?.cancel()
        self.headersTimer = nil
        switch result {
        case .success(let fields):
            self.request(redirects, computed: fields, spent: Duration(self.eventLoop.now - self.headersStartedAt))
        case .failure(let error):
            let failure = WebSocketError(.requestHeaders, message: "`requestHeaders` failed", cause: error)
            self.finish(.failure(error as? WebSocketError ?? failure))
        }
    }

    private func request(_ redirects: WebSocketRedirects, computed: HTTPFields, spent: Duration) {
        let configuration = self.configuration
        var dialer = Dialer(tls: configuration.tls, proxy: configuration.proxy)
        // The client certificate is for the original origin only.
        if !redirects.isSameOrigin { dialer.tls?.clientIdentity = nil }
        dialer.localAddress = configuration.localAddress
        dialer.connectTimeout = max(configuration.connectTimeout - spent, .milliseconds(1))
        dialer.tlsTimeout = configuration.tlsTimeout
        // The Unix socket is for the original origin only.
        let target = redirects.isSameOrigin ? configuration.unixSocketPath.map { Dialer.Target.unixSocket(path: $0) } : nil
        var connection: WebSocketConnection?
        let attempt = WebSocketClientConnector.attempt(
            redirects.url, headers: configuration.fields(computed: computed, isSameOrigin: redirects.isSameOrigin),
            through: dialer, target: target, limits: configuration.limits, deflate: configuration.compression,
            handshakeTimeout: configuration.handshakeTimeout, on: self.eventLoop
        ) { opening in
            let made = WebSocketConnection(
                on: opening.channel.eventLoop, subprotocol: opening.subprotocol, remoteAddress: opening.channel.remoteAddress,
                flow: configuration.flow)
            connection = made
            return made
        }
        self.attempt = attempt
        attempt.futureResult.assumeIsolated().whenComplete { result in
            self.attempt = nil
            switch result {
            case .success(let handler):
                guard !self.hasEnded, let connection else { return handler.abort() }
                connection.attach(handler)
                self.finish(.success(connection))
            case .failure(let error):
                self.failed(error)
            }
        }
    }

    private func failed(_ error: any Error) {
        guard !self.hasEnded else { return }
        guard let error = error as? WebSocketError, var redirects = self.redirects else { return self.finish(.failure(error)) }
        switch redirects.refused(error) {
        case .follow:
            self.redirects = redirects
            self.prepare(redirects)
        case .fail(let error):
            self.finish(.failure(error))
        }
    }
}

@available(*, unavailable)
extension WebSocketOpener: Sendable {}
