import ApusConnectivity
package import ApusWebSocketProtocol
package import HTTPTypes
package import NIOCore
import NIOHTTP1

/// The result of a handshake, before the connection's delegate is created.
package struct WebSocketOpening {
    /// The channel of the connection.
    package let channel: any Channel
    /// The 101 response.
    package let response: HTTPResponse

    /// The negotiated settings.
    package let agreement: WebSocketAgreement

    /// The subprotocol that the server chose from those offered; `nil` if it chose none.
    package var subprotocol: String? { self.agreement.subprotocol }
}

/// One attempt to open a WebSocket on a dialed connection. It ends once: open, failed, timed out or
/// cancelled.
///
/// Confined to its event loop.
package final class WebSocketConnectionAttempt {
    private let promise: EventLoopPromise<WebSocketHandler>
    private let eventLoop: any EventLoop
    private let limits: WebSocketLimits
    private let handshakeTimeout: Duration?
    /// The compression to offer; `nil` for none.
    var deflate: WebSocketDeflateConfiguration?
    /// The closure that creates the delegate after the handshake. Released when the attempt ends.
    private var makeDelegate: ((WebSocketOpening) -> any WebSocketHandlerDelegate)?
    private var dial: DialAttempt?
    private var channel: (any Channel)?
    private var timer: Scheduled<Void>?
    private(set) var hasEnded = false

    /// Creates an attempt without starting it.
    ///
    /// - Parameters:
    ///   - handshakeTimeout: The maximum time from the end of the TLS handshake, or of the
    ///     connection without TLS, to the open WebSocket. It replaces the timer of the whole
    ///     attempt. `nil` keeps that timer.
    ///   - makeDelegate: A closure that creates the delegate. It is called on the event loop after
    ///     a successful handshake, before the WebSocket handler is added.
    init(
        limits: WebSocketLimits, handshakeTimeout: Duration?, eventLoop: any EventLoop,
        makeDelegate: @escaping (WebSocketOpening) -> any WebSocketHandlerDelegate
    ) {
        self.limits = limits
        self.handshakeTimeout = handshakeTimeout
        self.makeDelegate = makeDelegate
        self.eventLoop = eventLoop
        self.promise = eventLoop.makePromise()
    }

    /// The open WebSocket, a `WebSocketError`, or `CancellationError` after ``cancel()``.
    ///
    /// A response with a status other than 101 fails the future with
    /// `WebSocketError.Code.connectionRefused`. The error contains the status, the fields and the
    /// beginning of the body. Callbacks of `assumeIsolated()` run before the WebSocket's first byte
    /// is read.
    package var futureResult: EventLoopFuture<WebSocketHandler> { self.promise.futureResult }

    /// Cancels the attempt: the future fails with `CancellationError`. Has no effect if the attempt
    /// has ended.
    package func cancel() {
        self.fail(CancellationError())
    }

    func startTimer(_ timeout: Duration) {
        self.timer?.cancel()
        self.timer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.fail(WebSocketError(.timeout, message: "the WebSocket was not open within \(timeout) (`handshakeTimeout` or `timeout`)"))
        }
    }

    func fail(_ error: WebSocketError) {
        self.fail(error as any Error)
    }

    private func fail(_ error: any Error) {
        guard !self.hasEnded else { return }
        self.end()
        self.dial?.cancel()
        self.dial = nil
        self.channel?.close(promise: nil)
        self.promise.fail(error)
    }

    private func end() {
        self.hasEnded = true
        self.timer?.cancel()
        self.timer = nil
        self.makeDelegate = nil
    }

    // MARK: Steps

    /// Continues with the handshake when the dialed connection, including TLS, is ready.
    func follow(_ dial: DialAttempt, request: HTTPRequest) {
        self.dial = dial
        dial.futureResult.assumeIsolated().whenComplete { result in
            self.dial = nil
            switch result {
            case .success(let channel): self.connected(channel, request: request)
            case .failure(let error): self.fail(Self.error(dialing: error))
            }
        }
    }

    private static func error(dialing error: any Error) -> WebSocketError {
        guard let error = error as? ConnectivityError else {
            return WebSocketError(.transport, message: "the connection could not be established", cause: error)
        }
        return WebSocketError(error.code == .timeout ? .timeout : .transport, message: error.message, cause: error)
    }

    private func connected(_ channel: any Channel, request: HTTPRequest) {
        guard !self.hasEnded else {
            channel.close(promise: nil)  // the deadline has passed
            return
        }
        self.channel = channel
        if let handshakeTimeout = self.handshakeTimeout { self.startTimer(handshakeTimeout) }
        do {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(HTTPRequestEncoder())
            try pipeline.addHandler(WebSocketHandshakeSplitter(attempt: self))
            try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)))
            try pipeline.addHandler(
                WebSocketClientHandshakeHandler(attempt: self, request: request, deflate: self.deflate, limits: self.limits))
        } catch {
            self.fail(WebSocketError(.transport, message: "the connection closed during the handshake", cause: error))
        }
    }

    /// Replaces the HTTP handlers with the WebSocket handler after a successful handshake.
    ///
    /// The decoder is removed in a later turn and treats writes as requests until then. No frame
    /// may be sent before its removal, so the splitter holds the received bytes.
    func agreed(
        _ response: HTTPResponse, _ agreement: WebSocketAgreement, in pipeline: ChannelPipeline.SynchronousOperations,
        handshake: WebSocketClientHandshakeHandler
    ) {
        do {
            let splitter = try pipeline.handler(type: WebSocketHandshakeSplitter.self)
            splitter.handshakeAgreed()
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPResponseDecoder>.self)
            let encoder = try pipeline.context(handlerType: HTTPRequestEncoder.self)
            pipeline.removeHandler(handshake, promise: nil)
            pipeline.removeHandler(context: encoder, promise: nil)
            pipeline.removeHandler(context: decoder).assumeIsolated().whenComplete { _ in
                self.open(response, agreement, in: pipeline, splitter: splitter)
            }
        } catch {
            self.fail(WebSocketError(.transport, message: "the connection closed during the handshake", cause: error))
        }
    }

    private func open(
        _ response: HTTPResponse, _ agreement: WebSocketAgreement, in pipeline: ChannelPipeline.SynchronousOperations,
        splitter: WebSocketHandshakeSplitter
    ) {
        guard !self.hasEnded, let channel = self.channel, let makeDelegate = self.makeDelegate else { return }
        let delegate = makeDelegate(WebSocketOpening(channel: channel, response: response, agreement: agreement))
        let handler = WebSocketHandler(role: .client, limits: self.limits, deflate: agreement.deflate, delegate: delegate)
        do {
            try pipeline.addHandler(handler, position: .after(splitter))
        } catch {
            return self.fail(WebSocketError(.transport, message: "the connection closed during the handshake", cause: error))
        }
        self.end()
        self.promise.assumeIsolated().succeed(handler)
        pipeline.removeHandler(splitter, promise: nil)
        handler.leftoverBytesPassed()
    }
}
