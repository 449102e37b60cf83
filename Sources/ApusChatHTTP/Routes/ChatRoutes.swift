import ApusChatCore
package import ApusChatProtocol
import ApusJSON
package import ApusWebSocket
package import HTTPTypes
package import Hummingbird
import NIOCore

/// The HTTP routes of the chat, which `docs/openapi.json` describes.
package struct ChatRoutes: Sendable {
    package typealias Context = HTTPContext

    let accounts: Accounts
    let chat: any ChatRequests
    let files: BlobFiles
    let uploads: Uploads
    let server: ServerAnswer
    let proxies: TrustedProxies

    package init(
        accounts: Accounts, chat: any ChatRequests, files: BlobFiles, uploads: Uploads, server: ServerAnswer,
        proxies: TrustedProxies = .none
    ) {
        self.accounts = accounts
        self.chat = chat
        self.files = files
        self.uploads = uploads
        self.server = server
        self.proxies = proxies
    }

    /// The maximum size of the body of an account request, in bytes.
    static let accountBytes = 16 * 1024

    /// Returns a router with all routes.
    package func router() -> Router<Context> {
        let router = Self.emptyRouter(proxies: self.proxies)
        self.add(to: router)
        return router
    }

    /// Returns a router without routes, with the middleware that all responses of the server have
    /// in common.
    package static func emptyRouter(proxies: TrustedProxies) -> Router<Context> {
        let router = Router(context: Context.self)
        router.add(middleware: AnswerMiddleware())
        if proxies != .none { router.add(middleware: ClientOriginMiddleware(proxies: proxies)) }
        return router
    }

    /// Adds the routes to a router that already has the middleware.
    package func add(to router: Router<Context>) {
        router.get("/health") { _, _ in try await Self.state(of: self.chat, .ok) }
        router.get("/ready") { _, _ in try await Self.state(of: self.chat, .serviceUnavailable) }
        router.get("/api/server") { _, _ in try Response.json(self.server) }
        self.addAccountRoutes(to: router)
        self.addSessionRoutes(to: router)
        self.addUploadRoutes(to: router)
        self.addBlobRoutes(to: router)
        self.addExportRoute(to: router)
        router.post("/api/chat/:verb") { request, context in try await self.mirror(request, context) }
    }

    /// Returns a response that reports whether the server can write. The status of `/health` is
    /// always 200, so that a supervisor does not restart the server repeatedly because of a full
    /// disk.
    ///
    /// - Parameters:
    ///   - chat: The chat whose state is reported.
    ///   - status: The status of the response if the chat cannot write.
    package static func state(of chat: any ChatRequests, _ status: HTTPResponse.Status) async throws -> Response {
        guard let failure = await chat.writeFailure() else { return try .json(value: .object(["status": "ok"])) }
        return try .json(value: .object(["status": "read_only", "message": .string(failure)]), status: status)
    }

    /// Answers a verb over HTTP.
    private func mirror(_ request: Request, _ context: Context) async throws -> Response {
        let session = try await self.session(of: request)
        let verb = try context.parameters.require("verb")
        let body = try await request.json(upTo: ChatLimits.requestBytes)
        switch verb {
        case ChatVerbs.devices.name: return try .json(try await self.devices(of: session, from: context.client))
        case ChatVerbs.deviceRemove.name:
            return try .json(try await self.removeDevice(try DeviceRemoveRequest(json: body), of: session, from: context.client))
        case ChatVerbs.pushSet.name:
            let set = try PushSetRequest(json: body)
            try self.accounts.charge(.change, to: [.account(session.user), .device(session.device)])
            try await self.accounts.setPush(set, of: session)
            return try .json(WireEmpty())
        default: return try .json(value: try await self.chat.answer(verb, body, of: session, from: context.client))
        }
    }

    // MARK: Sessions

    /// Returns the session of a request.
    ///
    /// - Throws: `unauthorized` if the request has none.
    func session(of request: Request) async throws -> AccountSession {
        guard let session = try await self.sessionIfPresent(of: request) else {
            throw ChatError(
                .unauthorized, message: "The request has no session. Sign in, and send `Authorization: Bearer` with the access token.")
        }
        return session
    }

    /// Returns the session of the token in `Authorization: Bearer`, else the session of the cookie.
    /// Tokens in URLs are not accepted, because URLs are logged.
    func sessionIfPresent(of request: Request) async throws -> AccountSession? {
        if let field = request.headers[.authorization] {
            let parts = field.split(separator: " ")
            guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
            return try await self.accounts.session(access: String(parts[1]))
        }
        guard let token = try SessionCookies.access(of: request) else { return nil }
        return try await self.accounts.session(access: token)
    }
}
