import ApusChatProtocol
import ApusConnectivity
import ApusJSON
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// The HTTP client for accounts and pictures.
///
/// It does not follow redirects, so that a token is sent only to the server that issued it.
final class ChatHTTP: ChatBlobTransport, Sendable {
    /// The maximum number of concurrent requests, so that downloads do not delay the upload of a
    /// message for long.
    private static let maximumConnections = 4

    private let server: String
    /// The path of the server's address, which precedes each request's path; usually empty.
    private let basePath: String
    private let client: HTTPExchangeClient
    private let configuration: ChatClientConfiguration
    private let token = NIOLockedValueBox<String?>(nil)

    init(server: String, configuration: ChatClientConfiguration) throws(ChatClientError) {
        self.server = try Self.canonical(server)
        self.configuration = configuration
        let url = URL(string: self.server)
        self.basePath = url?.path(percentEncoded: true) ?? ""
        let host = url?.host() ?? ""
        let origin = HTTPOrigin(
            isSecure: url?.scheme?.lowercased() == "https", host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host,
            port: url?.port)
        var dialer = Dialer(tls: configuration.tls, proxy: configuration.proxy)
        dialer.connectTimeout = configuration.requestTimeout
        dialer.tlsTimeout = configuration.requestTimeout
        var exchanges = HTTPExchanger.Configuration(origin: origin, dialer: dialer)
        exchanges.maximumConnections = Self.maximumConnections
        exchanges.maximumBodyBytes = max(ChatLimits.blobBytes, Self.maximumAnswerBytes)
        self.client = HTTPExchangeClient(configuration: exchanges, eventLoop: MultiThreadedEventLoopGroup.singleton.next())
    }

    /// The maximum size of an answer other than a picture.
    private static let maximumAnswerBytes = 1 << 20

    /// Creates a client for the duration of `body`.
    static func with<Value: Sendable>(
        server: String, configuration: ChatClientConfiguration, _ body: (ChatHTTP) async throws(ChatClientError) -> Value
    ) async throws(ChatClientError) -> Value {
        let http = try ChatHTTP(server: server, configuration: configuration)
        let result: Result<Value, ChatClientError>
        do throws(ChatClientError) { result = .success(try await body(http)) } catch { result = .failure(error) }
        http.shutdown()
        return try result.get()
    }

    func setToken(_ token: String) { self.token.withLockedValue { $0 = token } }

    func shutdown() { self.client.finish() }

    /// Validates the address and removes trailing slashes.
    static func canonical(_ server: String) throws(ChatClientError) -> String {
        var text = server.trimmingCharacters(in: .whitespaces)
        while text.hasSuffix("/") { text.removeLast() }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host(),
            !host.isEmpty, url.query() == nil, url.fragment() == nil, url.user() == nil
        else {
            throw ChatClientError(
                .badServerAddress, message: "\"\(server)\" is not a valid server address; use one like http://127.0.0.1:3000")
        }
        return text
    }

    // MARK: Accounts

    func register(_ request: RegisterRequest) async throws(ChatClientError) -> ChatSession {
        self.session(try await self.post("/api/register", request, as: SessionReply.self))
    }

    func login(_ request: LoginRequest) async throws(ChatClientError) -> ChatSession {
        self.session(try await self.post("/api/login", request, as: SessionReply.self))
    }

    func logout() async throws(ChatClientError) {
        var request = self.request("/api/logout", .POST)
        self.authorize(&request)
        do throws(ChatClientError) {
            _ = try await self.perform(request, timeout: self.configuration.requestTimeout)
        } catch  where error.code == .unauthorized {
            return  // the session has already ended
        }
    }

    private func session(_ reply: SessionReply) -> ChatSession {
        ChatSession(server: self.server, user: reply.user, token: reply.token, device: reply.device, expires: reply.expires)
    }

    // MARK: Pictures

    func upload(_ bytes: [UInt8], type: String) async throws(ChatClientError) -> BlobReply {
        var request = self.request("/api/blobs", .POST)
        self.authorize(&request)
        request.headers.replaceOrAdd(name: "content-type", value: type)
        request.body = ByteBuffer(bytes: bytes)
        let body = try await self.perform(request, timeout: self.configuration.transferTimeout)
        return try Self.decode(BlobReply.self, body, path: "/api/blobs")
    }

    func download(_ blob: BlobID) async throws(ChatClientError) -> [UInt8] {
        var request = self.request("/api/blobs/\(blob.rawValue)", .GET)
        request.isRepeatable = true
        request.acceptsCompression = false  // pictures are already compressed
        self.authorize(&request)
        return try await self.perform(request, timeout: self.configuration.transferTimeout)
    }

    // MARK: Private

    private func post<Reply: Decodable>(
        _ path: String, _ payload: some Encodable, as reply: Reply.Type
    ) async throws(ChatClientError) -> Reply {
        var request = self.request(path, .POST)
        do {
            request.body = ByteBuffer(bytes: try JSONWriter.bytes(of: try JSONValueEncoder().encode(payload)))
        } catch {
            throw ChatClientError(.badInput, message: "cannot encode the request to \(path)", cause: error)
        }
        request.headers.replaceOrAdd(name: "content-type", value: "application/json")
        let body = try await self.perform(request, timeout: self.configuration.requestTimeout)
        return try Self.decode(Reply.self, body, path: path)
    }

    private func request(_ path: String, _ method: HTTPMethod) -> HTTPExchangeRequest {
        HTTPExchangeRequest(method, self.basePath + path, headers: ["accept": "application/json"])
    }

    private func authorize(_ request: inout HTTPExchangeRequest) {
        if let token = self.token.withLockedValue({ $0 }) { request.headers.replaceOrAdd(name: "authorization", value: "Bearer \(token)") }
    }

    private func perform(_ request: HTTPExchangeRequest, timeout: Duration) async throws(ChatClientError) -> [UInt8] {
        let status: Int
        let body: [UInt8]
        do {
            let response = try await self.client.send(request, timeout: timeout)
            status = response.status
            body = Array(buffer: response.body)
        } catch {
            throw self.unreachable(error)
        }
        guard (200..<300).contains(status) else {
            let value = try? JSONReader.read(body, limits: .init(loneSurrogates: .replace))
            if let value, let error = try? JSONValueDecoder().decode(ChatError.self, from: value) { throw ChatClientError(server: error) }
            if status == 401 { throw ChatClientError(.unauthorized, message: "the server rejected the session; log in again") }
            throw ChatClientError(.badReply, message: "\(self.server) answered HTTP \(status); check that it is a chat server")
        }
        return body
    }

    private func unreachable(_ error: any Error) -> ChatClientError {
        switch (error as? ConnectivityError)?.code {
        case .timeout?: return ChatClientError(.timeout, message: "\(self.server) did not answer in time", cause: error)
        case .responseTooLarge?:
            return ChatClientError(.badReply, message: "the answer of \(self.server) exceeds the maximum size", cause: error)
        case .httpProtocol?:
            return ChatClientError(
                .badReply, message: "\(self.server) does not speak HTTP; check that it is a chat server", cause: error)
        case .invalidSettings?:
            // Caused by the proxy or TLS settings, so the message remains queued until they are
            // corrected.
            return ChatClientError(.unreachable, message: "cannot connect to \(self.server) with these settings: \(error)", cause: error)
        default: break
        }
        return ChatClientError(
            .unreachable, message: "cannot reach \(self.server); check the address and that the server is running (\(error))", cause: error)
    }

    private static func decode<Reply: Decodable>(_ type: Reply.Type, _ body: [UInt8], path: String) throws(ChatClientError) -> Reply {
        do { return try JSONValueDecoder().decode(type, from: try JSONReader.read(body, limits: .init(loneSurrogates: .replace))) } catch {
            throw ChatClientError(
                .badReply, message: "cannot decode the answer to \(path); the server may run another version", cause: error)
        }
    }
}
