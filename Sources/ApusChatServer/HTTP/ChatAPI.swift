import ApusBytes
import ApusChatProtocol
import ApusConnectivity
import ApusJSON
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// The HTTP API of the chat: registration, login, logout and blobs. Bodies are JSON; an error is
/// `{"error": {"code", "message"}}`.
struct ChatAPI: Sendable {
    typealias Context = ChatRequestContext

    let accounts: Accounts
    let store: ChatStore
    let blobs: BlobFolder
    let gateway: ChatGateway
    let now: @Sendable () -> Int64
    /// The maximum size of all uploads of one user, in bytes.
    let blobQuota: Int64
    /// The uploads in progress, in total and by user. Each one is buffered in memory.
    let uploads = NIOLockedValueBox(ConnectionQuota(maximum: 32, maximumPerAddress: 4))
    /// The downloads in progress, in total and by user. Each one holds up to three pieces until the
    /// client reads them.
    let downloads = Places(maximum: 1_024, maximumPerUser: 64)

    /// Whether a request is an upload, which has a longer timeout.
    static func isUpload(_ head: HTTPRequestHead) -> Bool { head.method == .POST && head.uri.hasPrefix("/api/blobs") }

    /// The maximum size of a JSON body, in bytes.
    private static let jsonBytes = 16 * 1024

    func add(to router: Router<Context>) {
        router.get("/health") { _, _ in "ok" }
        router.post("/api/register") { request, _ in
            let reply = try await self.accounts.register(try await Self.read(RegisterRequest.self, from: request))
            return try Self.json(self.withPresence(reply), status: .created)
        }
        router.post("/api/login") { request, context in
            let reply = try await self.accounts.login(try await Self.read(LoginRequest.self, from: request), from: context.address)
            return try Self.json(self.withPresence(reply))
        }
        router.post("/api/logout") { request, _ in
            let identity = try await self.identity(of: request)
            try await self.accounts.logout(identity)
            self.gateway.announceEnd(to: identity.device, .loggedOut)
            return Response(status: .noContent)
        }
        router.post("/api/blobs") { request, _ in try await self.upload(request) }
        router.get("/api/blobs/:sha256") { request, context in
            try await self.download(try context.parameters.require("sha256"), request, context)
        }
    }

    private func withPresence(_ reply: SessionReply) -> SessionReply {
        var reply = reply
        reply.user = self.gateway.withPresence(reply.user)
        return reply
    }

    // MARK: Blobs

    private func upload(_ request: Request) async throws -> Response {
        let user = try await self.identity(of: request).user
        guard self.uploads.withLockedValue({ $0.opened(from: user.rawValue) }) == nil else {
            throw ChatError(.tooMany, message: "too many uploads at the same time; try again soon")
        }
        defer { self.uploads.withLockedValue { $0.closed(from: user.rawValue) } }
        let body = try await Self.collect(request, upTo: ChatLimits.blobBytes)
        let quota = self.blobQuota
        let upload = try await self.blobs.examine(body)
        let reply = upload.reply
        try await self.store.read { db in try Blobs.requireRoom(for: reply, of: user, quota: quota, db) }
        try await self.blobs.keep(upload)
        let now = self.now()
        try await self.store.write { db in try Blobs.insert(reply, by: user, quota: quota, at: now, db) }
        return try Self.json(reply, status: .created)
    }

    private func download(_ name: String, _ request: Request, _ context: Context) async throws -> Response {
        let identity = try await self.identity(of: request)
        guard let blob = BlobID(name) else { throw ChatError(.notFound, message: "the blob does not exist, or you may not read it") }
        let found = try await self.store.read { db in try Blobs.readable(blob, by: identity.user, db) }
        guard let place = self.downloads.take(for: identity.user) else {
            throw ChatError(.tooMany, message: "too many downloads at the same time; try again when one has ended")
        }
        var headers: HTTPFields = [
            .contentType: found.type,
            // The name identifies the content, which never changes. Private, because a shared cache
            // does not check permissions.
            .cacheControl: "private, max-age=31536000, immutable",
            .contentSecurityPolicy: "sandbox; default-src 'none'",
        ]
        if found.width == nil { headers[.contentDisposition] = "attachment" }
        return Response(status: .ok, headers: headers, body: try await self.body(of: blob, size: found.size, place, context))
    }

    /// Returns the bytes of a blob, read at the pace of the client. A missing file is reported
    /// before the answer begins.
    private func body(of blob: BlobID, size: Int, _ place: Places.Place, _ context: Context) async throws -> ResponseBody {
        _ = try await self.blobs.piece(of: blob, from: 0, count: 1)
        return .paced(length: size, on: context.channel) { offset in
            let piece = try await self.blobs.piece(of: blob, from: offset, count: min(ResponseBody.pieceBytes, size - offset))
            return withExtendedLifetime(place) { piece }
        }
    }

    // MARK: Requests and answers

    /// Returns the identity of the token in `Authorization: Bearer`. Tokens in URLs are not
    /// accepted, because URLs are logged.
    private func identity(of request: Request) async throws -> AccountRows.Identity {
        let parts = (request.headers[.authorization] ?? "").split(atByte: " ").filter { !$0.isEmpty }
        guard parts.count == 2, parts[0].equalsIgnoringASCIICase("bearer"),
            let identity = try await self.accounts.identity(token: String(parts[1]))
        else {
            throw ChatError(.unauthorized, message: "sign in and send `Authorization: Bearer` with the token")
        }
        return identity
    }

    private static func read<T: Decodable>(_ type: T.Type, from request: Request) async throws -> T {
        let body = try await self.collect(request, upTo: self.jsonBytes)
        do {
            return try JSONValueDecoder().decode(
                type, from: try JSONReader.read(body.readableBytesView, limits: .init(loneSurrogates: .replace)))
        } catch {
            throw ChatError(.badRequest, message: "the body must be a JSON object with the documented fields")
        }
    }

    /// Collects a body. Discards an oversized body up to four times the limit, because a client
    /// that writes its whole body before it reads would otherwise not receive the 413 answer.
    private static func collect(_ request: Request, upTo limit: Int) async throws -> ByteBuffer {
        let tooLarge = ChatError(.tooLarge, message: "the body must have at most \(limit) bytes")
        let announced = request.headers[.contentLength].flatMap { Int($0) }
        guard announced ?? 0 <= 4 * limit else { throw tooLarge }
        var body = ByteBuffer()
        var count = 0
        var parts = request.body.makeAsyncIterator()
        while let part = try await self.next(&parts) {
            count += part.readableBytes
            guard count <= 4 * limit else { throw tooLarge }
            if count <= limit {
                body.writeImmutableBuffer(part)
            } else {
                body = ByteBuffer()
            }
        }
        // The end of the connection within the body may look like the end of the body.
        guard count >= announced ?? 0 else {
            throw ChatError(.badRequest, message: "the body ended after \(count) of \(announced ?? 0) bytes")
        }
        guard count <= limit else { throw tooLarge }
        return body
    }

    /// Returns the next part of a body. A missing or invalid part is an error of the client, not of
    /// the server.
    private static func next(_ parts: inout RequestBody.AsyncIterator) async throws(ChatError) -> ByteBuffer? {
        do { return try await parts.next() } catch {
            throw ChatError(.badRequest, message: "the body is incomplete: \(error)")
        }
    }

    private static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        try ChatErrorMiddleware<Context>.json(value, status: status)
    }
}
