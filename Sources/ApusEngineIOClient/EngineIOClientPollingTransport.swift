import ApusConnectivity
import ApusEngineIOProtocol
import ApusWebSocket
import HTTPTypes
import NIOCore
import NIOHTTP1

/// The polling transport of a session: at most one GET and one POST at a time, on persistent
/// connections.
///
/// Confined to the event loop.
final class EngineIOClientPollingTransport {
    /// The response to a request.
    struct Answer {
        var payload: EngineIOPayload
        var setCookies: [String]
    }

    typealias Outcome = Result<Answer, EngineIOError>

    private let exchanger: HTTPExchanger

    private(set) var isGetPending = false
    private(set) var isPostPending = false

    init(eventLoop: any EventLoop, origin: HTTPOrigin, configuration: EngineIOClientConfiguration) {
        var exchanges = HTTPExchanger.Configuration(origin: origin, dialer: configuration.dialer)
        exchanges.target = configuration.target
        exchanges.maximumBodyBytes = configuration.maximumMessageBytes
        self.exchanger = HTTPExchanger(configuration: exchanges, eventLoop: eventLoop)
    }

    /// Sends a GET. `completion` runs on the event loop, unless ``cancel()`` is called first.
    func get(_ target: String, headers: HTTPFields, timeout: Duration, completion: @escaping (Outcome) -> Void) {
        self.isGetPending = true
        self.send(HTTPExchangeRequest(.GET, target, headers: HTTPHeaders(headers)), timeout: timeout) { outcome in
            guard self.isGetPending else { return }  // cancelled
            self.isGetPending = false
            completion(outcome)
        }
    }

    /// Sends a POST. `completion` runs on the event loop, unless ``cancel()`` is called first.
    func post(
        _ payload: EngineIOPayload, to target: String, headers: HTTPFields, timeout: Duration,
        completion: @escaping (Outcome) -> Void
    ) {
        self.isPostPending = true
        var request = HTTPExchangeRequest(.POST, target, headers: HTTPHeaders(headers), body: payload.bytes)
        request.headers.replaceOrAdd(name: "Content-Type", value: payload.contentType)
        self.send(request, timeout: timeout) { outcome in
            guard self.isPostPending else { return }  // cancelled
            self.isPostPending = false
            completion(outcome)
        }
    }

    private func send(_ request: HTTPExchangeRequest, timeout: Duration, completion: @escaping (Outcome) -> Void) {
        self.exchanger.send(request, timeout: timeout) { completion(Self.outcome($0)) }
    }

    private static func outcome(_ result: Result<HTTPExchangeResponse, ConnectivityError>) -> Outcome {
        switch result {
        case .success(let response):
            guard response.status == 200 else {
                return .failure(EngineIOHTTPRefusal.error(status: response.status, body: Array(response.body.readableBytesView)))
            }
            let isBinary = EngineIOPayload.isBinary(contentType: response.headers.first(name: "Content-Type"))
            return .success(
                Answer(payload: EngineIOPayload(bytes: response.body, isBinary: isBinary), setCookies: response.headers["Set-Cookie"]))
        case .failure(let error): return .failure(EngineIOError(error))
        }
    }

    /// Closes the connections when pending requests end. No request may follow.
    func finish() {
        self.exchanger.finish()
    }

    /// Cancels pending requests. Their completions do not run.
    func cancel() {
        self.isGetPending = false
        self.isPostPending = false
        self.exchanger.close()
    }
}

extension EngineIOError {
    /// Converts an error of the connection.
    init(_ error: ConnectivityError) {
        let code: Code =
            switch error.code {
            case .timeout: .timeout
            case .responseTooLarge: .payloadTooLarge
            default: .transportError
            }
        self.init(code, message: "the HTTP request failed: \(error.message)", cause: error)
    }
}

@available(*, unavailable)
extension EngineIOClientPollingTransport: Sendable {}
