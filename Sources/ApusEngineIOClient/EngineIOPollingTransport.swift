import ApusConnectivity
import ApusEngineIOProtocol
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL

/// The HTTP half of a session: at most one GET and one POST on their way.
///
/// Confined to the event loop. async-http-client keeps the connections alive between the requests.
final class EngineIOPollingTransport {
    private let eventLoop: any EventLoop
    private let client: HTTPClient
    private let headers: HTTPHeaders
    private let tls: TLSConfiguration?
    private let maximumBodyBytes: Int
    private var tasks: [Int: HTTPClient.Task<HTTPClient.Response>] = [:]
    private var nextTask = 0

    init(eventLoop: any EventLoop, client: HTTPClient, configuration: EngineIOClientConfiguration) {
        self.eventLoop = eventLoop
        self.client = client
        self.headers = HTTPHeaders(configuration.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        self.maximumBodyBytes = configuration.maximumMessageBytes
        if configuration.tls == .system {
            self.tls = nil
        } else if let tls = try? configuration.tls.makeConfiguration() {
            self.tls = tls
        } else {
            // Settings that cannot be read must not fall back to others: nobody is trusted.
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates([])
            self.tls = tls
        }
    }

    /// Sends a request; `completion` runs on the event loop, unless ``cancel()`` came first.
    func send(
        _ method: HTTPMethod, to url: String, body: EngineIOPayload?, timeout: Duration,
        completion: @escaping (Result<EngineIOPayload, EngineIOError>) -> Void
    ) {
        self.eventLoop.preconditionInEventLoop()
        let request: HTTPClient.Request
        do {
            var headers = self.headers
            if let body { headers.replaceOrAdd(name: "Content-Type", value: body.contentType) }
            request = try HTTPClient.Request(
                url: url, method: method, headers: headers, body: body.map { .byteBuffer($0.bytes) }, tlsConfiguration: self.tls)
        } catch {
            completion(.failure(EngineIOError(.badRequest, message: "the request could not be made", cause: error)))
            return
        }
        let task = self.client.execute(
            request: request, delegate: ResponseAccumulator(request: request, maxBodySize: self.maximumBodyBytes),
            eventLoop: .delegateAndChannel(on: self.eventLoop), deadline: .now() + TimeAmount(timeout))
        let id = self.nextTask
        self.nextTask += 1
        self.tasks[id] = task
        task.futureResult.hop(to: self.eventLoop).assumeIsolated().whenComplete { result in
            guard self.tasks.removeValue(forKey: id) != nil else { return }  // cancelled
            completion(Self.outcome(result))
        }
    }

    private static func outcome(_ result: Result<HTTPClient.Response, any Error>) -> Result<EngineIOPayload, EngineIOError> {
        switch result {
        case .success(let response):
            let body = response.body ?? ByteBuffer()
            guard response.status == .ok else {
                return .failure(EngineIOHTTPRefusal.error(status: Int(response.status.code), body: Array(body.readableBytesView)))
            }
            return .success(
                EngineIOPayload(bytes: body, isBinary: EngineIOPayload.isBinary(contentType: response.headers.first(name: "Content-Type"))))
        case .failure(let error as HTTPClientError) where error == .deadlineExceeded:
            return .failure(EngineIOError(.timeout, message: "the server did not answer in time", cause: error))
        case .failure(let error):
            return .failure(EngineIOError(.transportError, message: "the HTTP request failed", cause: error))
        }
    }

    /// Gives up what is on its way; no completion runs any more.
    func cancel() {
        let tasks = self.tasks
        self.tasks = [:]
        for task in tasks.values { task.fail(reason: CancellationError()) }
    }
}

@available(*, unavailable)
extension EngineIOPollingTransport: Sendable {}
