import ApusChatProtocol
import ApusJSON
import AsyncHTTPClient
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// The chat server's HTTP side: accounts and pictures.
final class ChatHTTP: ChatBlobTransport, Sendable {
    private let server: String
    private let client: HTTPClient
    private let configuration: ChatClientConfiguration
    private let token = NIOLockedValueBox<String?>(nil)

    init(server: String, configuration: ChatClientConfiguration) throws(ChatClientError) {
        self.server = try Self.canonical(server)
        self.configuration = configuration
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: try Self.clientConfiguration(configuration))
    }

    /// Lends a client to `body` and shuts it down after.
    static func with<Value: Sendable>(
        server: String, configuration: ChatClientConfiguration, _ body: (ChatHTTP) async throws(ChatClientError) -> Value
    ) async throws(ChatClientError) -> Value {
        let http = try ChatHTTP(server: server, configuration: configuration)
        let result: Result<Value, ChatClientError>
        do throws(ChatClientError) { result = .success(try await body(http)) } catch { result = .failure(error) }
        await http.shutdown()
        return try result.get()
    }

    func setToken(_ token: String) { self.token.withLockedValue { $0 = token } }

    func shutdown() async { try? await self.client.shutdown() }

    /// The address without a slash at the end, after a check.
    static func canonical(_ server: String) throws(ChatClientError) -> String {
        var text = server.trimmingCharacters(in: .whitespaces)
        while text.hasSuffix("/") { text.removeLast() }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host(),
            !host.isEmpty, url.query() == nil, url.fragment() == nil, url.user() == nil
        else {
            throw ChatClientError(
                .badServerAddress, message: "\"\(server)\" is not a server's address; give one like http://127.0.0.1:3000")
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
            _ = try await self.perform(request, maximumBytes: 64 * 1024, timeout: self.configuration.requestTimeout)
        } catch  where error.code == .unauthorized {
            return  // ended already: that is what was asked for
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
        request.body = .bytes(ByteBuffer(bytes: bytes))
        let body = try await self.perform(request, maximumBytes: 64 * 1024, timeout: self.configuration.transferTimeout)
        return try Self.decode(BlobReply.self, body, path: "/api/blobs")
    }

    func download(_ blob: BlobID) async throws(ChatClientError) -> [UInt8] {
        var request = self.request("/api/blobs/\(blob.rawValue)", .GET)
        self.authorize(&request)
        return try await self.perform(request, maximumBytes: ChatLimits.blobBytes, timeout: self.configuration.transferTimeout)
    }

    // MARK: Private

    private func post<Reply: Decodable>(
        _ path: String, _ payload: some Encodable, as reply: Reply.Type
    ) async throws(ChatClientError) -> Reply {
        var request = self.request(path, .POST)
        do {
            request.body = .bytes(ByteBuffer(bytes: try JSONWriter.bytes(of: try JSONValueEncoder().encode(payload))))
        } catch {
            throw ChatClientError(.badInput, message: "cannot write the request", cause: error)
        }
        request.headers.replaceOrAdd(name: "content-type", value: "application/json")
        let body = try await self.perform(request, maximumBytes: 1024 * 1024, timeout: self.configuration.requestTimeout)
        return try Self.decode(Reply.self, body, path: path)
    }

    private func request(_ path: String, _ method: HTTPMethodName) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: self.server + path)
        request.method = .init(rawValue: method.rawValue)
        request.headers.add(name: "accept", value: "application/json")
        return request
    }

    private enum HTTPMethodName: String { case GET, POST }

    private func authorize(_ request: inout HTTPClientRequest) {
        if let token = self.token.withLockedValue({ $0 }) { request.headers.replaceOrAdd(name: "authorization", value: "Bearer \(token)") }
    }

    private func perform(_ request: HTTPClientRequest, maximumBytes: Int, timeout: Duration) async throws(ChatClientError) -> [UInt8] {
        let status: UInt
        let body: [UInt8]
        do {
            let response = try await self.client.execute(request, timeout: .milliseconds(timeout.milliseconds))
            status = response.status.code
            body = Array(buffer: try await response.body.collect(upTo: maximumBytes))
        } catch {
            throw self.unreachable(error)
        }
        guard (200..<300).contains(status) else {
            let value = try? JSONReader.read(body)
            if let value, let error = try? JSONValueDecoder().decode(ChatError.self, from: value) { throw ChatClientError(server: error) }
            if status == 401 { throw ChatClientError(.unauthorized, message: "the server does not accept this session; log in again") }
            throw ChatClientError(.badReply, message: "\(self.server) answered HTTP \(status); is it a chat server?")
        }
        return body
    }

    private func unreachable(_ error: any Error) -> ChatClientError {
        if let error = error as? HTTPClientError, error == .deadlineExceeded || error == .readTimeout || error == .connectTimeout {
            return ChatClientError(.timeout, message: "\(self.server) did not answer in time", cause: error)
        }
        if error is NIOTooManyBytesError {
            return ChatClientError(.badReply, message: "\(self.server) answered with more than it may", cause: error)
        }
        return ChatClientError(
            .unreachable, message: "cannot reach \(self.server): is the server running, and is the address right? (\(error))", cause: error)
    }

    private static func decode<Reply: Decodable>(_ type: Reply.Type, _ body: [UInt8], path: String) throws(ChatClientError) -> Reply {
        do { return try JSONValueDecoder().decode(type, from: try JSONReader.read(body)) } catch {
            throw ChatClientError(
                .badReply, message: "the answer to \(path) was not understood; is it a chat server of this version?", cause: error)
        }
    }
}
