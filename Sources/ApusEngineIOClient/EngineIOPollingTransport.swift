import ApusConnectivity
import ApusEngineIOProtocol
import NIOCore
import NIOHTTP1

/// The HTTP half of a session: at most one GET and one POST on their way, each on a connection that is kept for the next.
///
/// Confined to the event loop.
final class EngineIOPollingTransport {
    /// What a request brought.
    struct Answer {
        var payload: EngineIOPayload
        var setCookies: [String]
    }

    typealias Outcome = Result<Answer, EngineIOError>

    private let exchanger: HTTPExchanger

    /// Whether a poll is on its way.
    private(set) var getIsOut = false
    /// Whether a POST is on its way.
    private(set) var postIsOut = false

    init(eventLoop: any EventLoop, origin: HTTPOrigin, configuration: EngineIOClientConfiguration) {
        var exchanges = HTTPExchanger.Configuration(origin: origin, dialer: configuration.dialer)
        exchanges.target = configuration.target
        exchanges.maximumBodyBytes = configuration.maximumMessageBytes
        self.exchanger = HTTPExchanger(configuration: exchanges, eventLoop: eventLoop)
    }

    /// Polls. `completion` runs on the event loop, unless ``cancel()`` came first.
    func get(_ target: String, headers: [(String, String)], timeout: Duration, completion: @escaping (Outcome) -> Void) {
        self.getIsOut = true
        self.send(HTTPExchangeRequest(.GET, target, headers: HTTPHeaders(headers)), timeout: timeout) { outcome in
            guard self.getIsOut else { return }  // cancelled
            self.getIsOut = false
            completion(outcome)
        }
    }

    /// Posts a payload. `completion` runs on the event loop, unless ``cancel()`` came first.
    func post(
        _ payload: EngineIOPayload, to target: String, headers: [(String, String)], timeout: Duration,
        completion: @escaping (Outcome) -> Void
    ) {
        self.postIsOut = true
        var request = HTTPExchangeRequest(.POST, target, headers: HTTPHeaders(headers), body: payload.bytes)
        request.headers.replaceOrAdd(name: "Content-Type", value: payload.contentType)
        self.send(request, timeout: timeout) { outcome in
            guard self.postIsOut else { return }  // cancelled
            self.postIsOut = false
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

    /// Sends nothing more and keeps no connection.
    func finish() {
        self.exchanger.finish()
    }

    /// Gives up what is on its way; no completion runs any more.
    func cancel() {
        self.getIsOut = false
        self.postIsOut = false
        self.exchanger.close()
    }
}

extension EngineIOError {
    /// Why a transport failed, in the words of this layer.
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
extension EngineIOPollingTransport: Sendable {}
