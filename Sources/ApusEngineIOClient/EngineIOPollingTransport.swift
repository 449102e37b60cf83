import ApusConnectivity
import ApusEngineIOProtocol
import NIOCore
import NIOHTTP1

/// The HTTP half of a session: at most one GET and one POST on their way, each on a connection that is kept for the next.
///
/// Confined to the event loop.
final class EngineIOPollingTransport {
    private let exchanger: HTTPExchanger
    private let headers: HTTPHeaders
    /// The requests on their way that somebody waits for.
    private var requests: Set<HTTPExchanger.ID> = []

    init(eventLoop: any EventLoop, origin: HTTPOrigin, configuration: EngineIOClientConfiguration) {
        self.headers = HTTPHeaders(configuration.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        var exchanges = HTTPExchanger.Configuration(origin: origin, dialer: configuration.dialer)
        exchanges.target = configuration.unixSocketPath.map { .unixSocket(path: $0) }
        exchanges.maximumBodyBytes = configuration.maximumMessageBytes
        self.exchanger = HTTPExchanger(configuration: exchanges, eventLoop: eventLoop)
    }

    /// Sends a request; `completion` runs on the event loop, unless ``cancel()`` came first.
    func send(
        _ method: HTTPMethod, to target: String, body: EngineIOPayload?, timeout: Duration,
        completion: @escaping (Result<EngineIOPayload, EngineIOError>) -> Void
    ) {
        var request = HTTPExchangeRequest(method, target, headers: self.headers, body: body?.bytes)
        if let body { request.headers.replaceOrAdd(name: "Content-Type", value: body.contentType) }
        var id: HTTPExchanger.ID?
        var isOver = false
        id = self.exchanger.send(request, timeout: timeout) { result in
            isOver = true
            if let id { guard self.requests.remove(id) != nil else { return } }  // cancelled
            completion(Self.outcome(result))
        }
        if !isOver, let id { self.requests.insert(id) }
    }

    private static func outcome(_ result: Result<HTTPExchangeResponse, ConnectivityError>) -> Result<EngineIOPayload, EngineIOError> {
        switch result {
        case .success(let response):
            guard response.status == 200 else {
                return .failure(EngineIOHTTPRefusal.error(status: response.status, body: Array(response.body.readableBytesView)))
            }
            return .success(
                EngineIOPayload(
                    bytes: response.body, isBinary: EngineIOPayload.isBinary(contentType: response.headers.first(name: "Content-Type"))))
        case .failure(let error): return .failure(EngineIOError(error))
        }
    }

    /// Gives up what is on its way; no completion runs any more.
    func cancel() {
        self.requests = []
        self.exchanger.close()
    }
}

extension EngineIOError {
    /// Why a transport failed, in the words of this layer.
    init(_ error: ConnectivityError) {
        let code: Code =
            switch error.code {
            case .timeout: .timeout
            case .invalidSettings: .badRequest
            case .responseTooLarge: .payloadTooLarge
            default: .transportError
            }
        self.init(code, message: "the HTTP request failed: \(error.message)", cause: error)
    }
}

@available(*, unavailable)
extension EngineIOPollingTransport: Sendable {}
