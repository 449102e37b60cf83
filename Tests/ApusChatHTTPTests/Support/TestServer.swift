import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatHTTP

/// The routes with accounts in memory. Requests go directly to the router, without a socket.
final class TestServer: Sendable {
    let test: TestAccounts
    let files: BlobFiles
    let uploads: Uploads
    let chat = EchoChat()

    init(
        uploads configuration: UploadsConfiguration = .patient, tools: MediaTools = .none, s3: MemoryS3? = nil,
        _ configure: (inout AccountsConfiguration) -> Void = { _ in }
    ) throws {
        self.test = try TestAccounts(configure)
        let folder = self.test.folder
        self.files = try BlobFiles(
            folder: folder, tools: tools,
            makeStore: s3.map { s3 in
                { threads in try S3BlobStore(folder: folder, client: s3.client(), threads: threads, logger: .quiet) }
            })
        self.uploads = try Uploads(folder: self.test.folder, accounts: self.test.accounts, files: self.files, configuration: configuration)
    }

    deinit { self.files.close() }

    /// Returns the path of the file of a blob; an empty text if the store is not a folder.
    func path(of blob: BlobID) -> String { self.files.store.path(of: blob) ?? "" }

    /// Uploads bytes whose row cannot be written, as if the process ended between the bytes of the
    /// blob and its row. Returns the path of the upload.
    func uploadWithoutRow(_ bytes: [UInt8], _ client: TestRequests, token: String) async throws -> String {
        let path = try await client.beginUpload(of: bytes.count, token: token)
        self.test.database.isFull.withLockedValue { $0 = true }
        #expect(try await client.patch(path, at: 0, bytes, token: token).status == .serviceUnavailable)
        self.test.database.isFull.withLockedValue { $0 = false }
        return path
    }

    /// Runs `body` with a client of the routes.
    func run(_ body: @escaping @Sendable (TestRequests) async throws -> Void) async throws {
        let routes = ChatRoutes(
            accounts: self.test.accounts, chat: self.chat, files: self.files, uploads: self.uploads,
            server: ServerAnswer(name: "Apus", version: "1", registration: .open, limits: HelloLimits()))
        try await Application(router: routes.router()).test(.router) { client in try await body(TestRequests(client: client)) }
    }
}

/// Answers each verb with its request.
struct EchoChat: ChatRequests {
    func answer(_ verb: String, _ request: JSONValue, of session: AccountSession, from client: ClientOrigin) async throws(ChatError)
        -> JSONValue
    {
        guard verb == "send" else { throw ChatError(.unsupported, message: "The server does not support the verb.") }
        return .object(["verb": .string(verb), "request": request])
    }

    func read(_ verb: String, _ request: JSONValue, of session: AccountSession) async throws(ChatError) -> JSONValue {
        throw ChatError(.unsupported, message: "The server does not support the verb.")
    }

    func writeFailure() async -> String? { nil }
}

/// A client of the routes.
struct TestRequests: Sendable {
    let client: any TestClientProtocol

    static let device: JSONValue = .object(["name": "Test", "platform": "linux"])

    func post(_ path: String, _ body: JSONValue, token: String? = nil, headers: HTTPFields = [:]) async throws -> TestResponse {
        try await self.send(.post, path, token: token, headers: headers, body: ByteBuffer(bytes: JSONWriter.bytes(of: body)))
    }

    func send(_ method: HTTPRequest.Method, _ path: String, token: String? = nil, headers: HTTPFields = [:], body: ByteBuffer? = nil)
        async throws -> TestResponse
    {
        var headers = headers
        if let token { headers[.authorization] = "Bearer " + token }
        return try await self.client.execute(uri: path, method: method, headers: headers, body: body)
    }

    func register(_ name: String, headers: HTTPFields = [:]) async throws -> TestResponse {
        try await self.post(
            "/api/register", .object(["name": .string(name), "password": "correct horse", "device": Self.device]), headers: headers)
    }

    /// Registers a user and returns the access token.
    func token(_ name: String) async throws -> String { try await self.register(name).session().access }

    /// Creates an upload and returns its path.
    func beginUpload(of length: Int, token: String) async throws -> String {
        let created = try await self.send(
            .post, "/api/uploads", token: token, headers: [.tusResumable: "1.0.0", .uploadLength: String(length)])
        return try #require(created.headers[.location])
    }

    /// Uploads bytes in one transfer.
    func upload(_ bytes: [UInt8], token: String) async throws -> TestResponse {
        try await self.patch(try await self.beginUpload(of: bytes.count, token: token), at: 0, bytes, token: token)
    }

    func patch(_ path: String, at offset: Int, _ bytes: [UInt8], token: String) async throws -> TestResponse {
        try await self.send(
            .patch, path, token: token,
            headers: [.tusResumable: "1.0.0", .uploadOffset: String(offset), .contentType: "application/offset+octet-stream"],
            body: ByteBuffer(bytes: bytes))
    }
}

extension TestResponse {
    func json() throws -> JSONValue { try JSONReader.read(self.body.readableBytesView) }

    func session() throws -> SessionAnswer { try SessionAnswer(json: try self.json()) }

    func error() throws -> ChatError { try ChatError(json: try self.json()) }
}

extension UploadsConfiguration {
    /// A configuration that waits up to 100 seconds for previews, for busy machines.
    static var patient: Self {
        var configuration = Self()
        configuration.previewWait = .seconds(100)
        return configuration
    }
}
