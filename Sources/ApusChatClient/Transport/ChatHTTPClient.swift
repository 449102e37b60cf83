import ApusBytes
import ApusChatProtocol
import ApusConnectivity
import ApusJSON
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends the HTTP requests of a client: sessions, uploads (tus 1.0) and blobs.
///
/// It does not follow redirects, so that a token is sent only to the server that issued it.
final class ChatHTTPClient: ChatHTTPTransport, Sendable {
    private let server: String
    /// The path of the server's address, which is the prefix of each request's path; usually empty.
    private let basePath: String
    private let client: HTTPExchangeClient
    private let configuration: ChatClientConfiguration
    /// The maximum number of concurrent requests. It is small, so that downloads do not delay an
    /// upload for long.
    private static let maximumConnections = 4
    private static let maximumAnswerBytes = 1 << 20

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
        dialer.timeoutSetting = "requestTimeout"
        var exchanges = HTTPExchanger.Configuration(origin: origin, dialer: dialer)
        exchanges.maximumConnections = Self.maximumConnections
        exchanges.maximumBodyBytes = max(Int(ChatLimits.blobBytes), Self.maximumAnswerBytes)
        self.client = HTTPExchangeClient(configuration: exchanges, eventLoop: MultiThreadedEventLoopGroup.singleton.next())
    }

    func shutdown() { self.client.finish() }

    /// Returns a server address without trailing slashes. Throws `badAddress` if it is not valid.
    static func canonical(_ server: String) throws(ChatClientError) -> String {
        var text = server.trimmingCharacters(in: .whitespaces)
        while text.hasSuffix("/") { text.removeLast() }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host(), !host.isEmpty, url.query() == nil, url.fragment() == nil, url.user() == nil
        else {
            throw ChatClientError(.badAddress, message: "\"\(server)\" is not a server address; use one like http://127.0.0.1:3000")
        }
        return text
    }

    func post(_ path: String, _ payload: JSONValue, access: String?) async throws(ChatClientError) -> JSONValue {
        var request = self.request(.POST, path, access: access)
        do { request.body = ByteBuffer(bytes: try JSONWriter.bytes(of: payload)) } catch {
            throw ChatClientError(.invalidUse, message: "the request to \(path) cannot be encoded as JSON: \(error)")
        }
        request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        let response = try await self.perform(request, timeout: self.configuration.requestTimeout)
        do { return try JSONReader.read(Array(buffer: response.body), limits: .init(loneSurrogates: .replace)) } catch {
            throw ChatClientError(.badAnswer, message: "the answer to \(path) is not JSON; check that \(self.server) is a chat server")
        }
    }

    // MARK: Uploads

    func createUpload(_ upload: UploadDescription, access: String) async throws(ChatClientError) -> String {
        var request = self.tus(.POST, "/api/uploads", access: access)
        request.headers.add(name: "Upload-Length", value: String(upload.size))
        var metadata = ["type \(Data(upload.type.utf8).base64EncodedString())"]
        if let name = upload.name { metadata.append("name \(Data(name.utf8).base64EncodedString())") }
        request.headers.add(name: "Upload-Metadata", value: metadata.joined(separator: ","))
        let response = try await self.perform(request, timeout: self.configuration.requestTimeout)
        guard let location = response.headers.first(name: "Location"), let path = self.path(of: location) else {
            throw ChatClientError(.badAnswer, message: "the answer of \(self.server) to a new upload has no `Location` on that server")
        }
        return path
    }

    /// Returns the path of an upload; nil for an address on another server, to which the bytes are
    /// not sent.
    private func path(of location: String) -> String? {
        if location.hasPrefix(self.server + "/") { return String(location.dropFirst(self.server.count)) }
        guard location.hasPrefix("/"), !location.hasPrefix("//") else { return nil }
        return location.hasPrefix(self.basePath) ? String(location.dropFirst(self.basePath.count)) : location
    }

    func uploadOffset(_ location: String, access: String) async throws(ChatClientError) -> Int64? {
        do throws(ChatClientError) {
            let request = self.tus(.HEAD, location, access: access)
            return try Self.offset(try await self.perform(request, timeout: self.configuration.requestTimeout))
        } catch {
            if error.code == .notFound || error.serverError?.code == .tooLate { return nil }
            throw error
        }
    }

    func append(
        _ bytes: [UInt8], at offset: Int64, to location: String, access: String
    ) async throws(ChatClientError) -> UploadProgress {
        var request = self.tus(.PATCH, location, access: access)
        request.headers.add(name: "Upload-Offset", value: String(offset))
        request.headers.add(name: "Content-Type", value: "application/offset+octet-stream")
        request.body = ByteBuffer(bytes: bytes)
        let response = try await self.perform(request, timeout: self.configuration.transferTimeout)
        var progress = UploadProgress(offset: try Self.offset(response))
        if let blob = response.headers.first(name: "Chat-Blob").flatMap({ BlobID($0) }) {
            progress.blob = UploadedBlob(
                id: blob, type: response.headers.first(name: "Chat-Type") ?? "application/octet-stream",
                size: response.headers.first(name: "Chat-Size").flatMap { Int64(digits: $0) } ?? progress.offset,
                width: response.headers.first(name: "Chat-Width").flatMap { Int64(digits: $0) },
                height: response.headers.first(name: "Chat-Height").flatMap { Int64(digits: $0) })
        }
        return progress
    }

    func removeUpload(_ location: String, access: String) async throws(ChatClientError) {
        _ = try await self.perform(self.tus(.DELETE, location, access: access), timeout: self.configuration.requestTimeout)
    }

    private static func offset(_ response: HTTPExchangeResponse) throws(ChatClientError) -> Int64 {
        guard let offset = response.headers.first(name: "Upload-Offset").flatMap({ Int64(digits: $0) }) else {
            throw ChatClientError(.badAnswer, message: "the answer to a request for an upload has no valid `Upload-Offset`")
        }
        return offset
    }

    func download(_ blob: BlobID, size: Int?, owner: BlobOwner?, access: String) async throws(ChatClientError) -> [UInt8] {
        let request = self.download(Self.path(of: blob, size: size, owner: owner), access: access)
        return Array(buffer: try await self.perform(request, timeout: self.configuration.transferTimeout).body)
    }

    /// Returns the path and query of a download.
    static func path(of blob: BlobID, size: Int?, owner: BlobOwner?) -> String {
        var query = size.map { ["size=\($0)"] } ?? []
        switch owner {
        // Account names can contain letters of all scripts.
        case .user(let name): query.append("user=" + (name.rawValue.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""))
        case .conversation(let id): query.append("conv=\(id.rawValue)")
        case .link(let code): query.append("link=\(code.rawValue)")
        case nil: break
        }
        return "/api/blobs/\(blob.rawValue)" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    private func download(_ path: String, access: String) -> HTTPExchangeRequest {
        var request = self.request(.GET, path, access: access)
        request.isRepeatable = true
        request.acceptsCompression = false  // media is compressed already
        return request
    }

    func save(_ path: String, to file: String, access: String) async throws(ChatClientError) {
        let partial = "\(file).\(UUID().uuidString).part"
        guard FileManager.default.createFile(atPath: partial, contents: nil, attributes: [.posixPermissions: 0o600]),
            let handle = FileHandle(forWritingAtPath: partial)
        else { throw ChatClientError(.invalidUse, message: "cannot write \(file); check that its folder exists and is writable") }
        let failure: ChatClientError?
        do throws(ChatClientError) {
            var request = self.download(path, access: access)
            // Pieces are small and are written on the event loop. The next piece is read after the
            // write.
            request.receiveBody = { piece in
                do { try handle.write(contentsOf: Data(piece.readableBytesView)) } catch {
                    throw ChatClientError(.invalidUse, message: "cannot write \(file): \(error.localizedDescription)")
                }
            }
            _ = try await self.perform(request, timeout: self.configuration.transferTimeout)
            failure = nil
        } catch {
            failure = error
        }
        try? handle.close()
        if let failure {
            try? FileManager.default.removeItem(atPath: partial)
            throw failure
        }
        guard rename(partial, file) == 0 else {
            try? FileManager.default.removeItem(atPath: partial)
            throw ChatClientError(.invalidUse, message: "cannot write \(file); check that it is not a folder")
        }
    }

    // MARK: Requests

    private func request(_ method: HTTPMethod, _ path: String, access: String?) -> HTTPExchangeRequest {
        var request = HTTPExchangeRequest(method, self.basePath + path, headers: ["Accept": "application/json"])
        if let access { request.headers.add(name: "Authorization", value: "Bearer \(access)") }
        return request
    }

    private func tus(_ method: HTTPMethod, _ path: String, access: String) -> HTTPExchangeRequest {
        var request = self.request(method, path, access: access)
        request.headers.add(name: "Tus-Resumable", value: "1.0.0")
        return request
    }

    private func perform(_ request: HTTPExchangeRequest, timeout: Duration) async throws(ChatClientError) -> HTTPExchangeResponse {
        let response: HTTPExchangeResponse
        do { response = try await self.client.send(request, timeout: timeout) } catch {
            guard !Task.isCancelled else { throw .cancelled }
            throw (error as? ConnectivityError)?.cause as? ChatClientError ?? self.unreachable(error)
        }
        guard !(200..<300).contains(response.status) else { return response }
        let value = try? JSONReader.read(Array(buffer: response.body), limits: .init(loneSurrogates: .replace))
        if let value, let error = try? ChatError(json: value) { throw ChatClientError(server: error) }
        switch response.status {
        case 401: throw ChatClientError(.signedOut, message: "the server did not accept the session; sign in again")
        case 404, 410: throw ChatClientError(.notFound, message: "\(request.target) does not exist on \(self.server)")
        case 500...: throw ChatClientError(.unreachable, message: "\(self.server) answered HTTP \(response.status)")
        default:
            throw ChatClientError(.badAnswer, message: "\(self.server) answered HTTP \(response.status); check that it is a chat server")
        }
    }

    private func unreachable(_ error: any Error) -> ChatClientError {
        switch (error as? ConnectivityError)?.code {
        case .timeout?: ChatClientError(.timeout, message: "\(self.server) did not answer in time")
        case .responseTooLarge?: ChatClientError(.badAnswer, message: "the answer of \(self.server) exceeds the maximum size")
        case .httpProtocol?:
            ChatClientError(.badAnswer, message: "\(self.server) did not answer with HTTP; check that it is a chat server")
        default: ChatClientError(.unreachable, message: "\(self.server) cannot be reached: \(error)", cause: error)
        }
    }
}

extension ChatNetwork {
    /// Connections over Socket.IO and HTTP.
    package static let live = ChatNetwork(
        http: { server, configuration throws(ChatClientError) in try ChatHTTPClient(server: server, configuration: configuration) },
        connect: { server, access, configuration, logger in
            SocketIOChatTransport(server: server, access: access, configuration: configuration, logger: logger)
        })
}
