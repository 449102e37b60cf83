import ApusChatCore
import ApusChatHTTP
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import HTTPTypes
import Hummingbird
import Logging

import NIOConcurrencyHelpers
import NIOCore

// The routes of the legacy protocol. All responses have the status 200 and the envelope `{code: 1 |
// -1, message, data}`, except those of files.
extension LegacyServer {
    /// The maximum size of a form, in bytes.
    private static let formBytes = 16 << 10

    /// Returns the router of the listener.
    func router() -> Router<HTTPContext> {
        let router = ChatRoutes.emptyRouter(proxies: self.proxies)
        router.post("/register") { request, context in
            await self.answering(context) { try await self.register(try await self.form(request), from: context.client) }
        }
        router.post("/mobileLogin") { request, context in
            await self.answering(context) { try await self.login(try await self.form(request), from: context.client) }
        }
        router.get("/allUsers") { _, context in
            await self.answering(context) { try await self.allUsers(for: context.client) }
        }
        router.post("/uploadFiles") { request, context in
            await self.answering(context) { try await self.upload(request, from: context.client) }
        }
        router.get("/images/:name") { request, context in try await self.file(request, context) }
        return router
    }

    private func answering(_ context: HTTPContext, _ body: () async throws -> JSONObject) async -> Response {
        let envelope: JSONObject
        do {
            envelope = ["code": 1, "message": "ok", "data": .object(try await body())]
        } catch let error as ChatError {
            envelope = ["code": -1, "message": .string(error.message), "data": [:]]
        } catch let error as WireError {
            envelope = ["code": -1, "message": .string(ChatError(error).message), "data": [:]]
        } catch {
            self.logger.error("A route of the legacy protocol failed", metadata: ["error": "\(error)"])
            envelope = ["code": -1, "message": "The server failed to process the request.", "data": [:]]
        }
        return (try? Response.json(value: .object(envelope))) ?? Response(status: .internalServerError)
    }

    private func form(_ request: Request) async throws -> [String: String] {
        let body = try await request.bytes(upTo: Self.formBytes)
        return LegacyForm.fields(body.readableBytesView, contentType: request.headers[.contentType] ?? "")
    }

    // MARK: Accounts

    private func register(_ form: [String: String], from client: ClientOrigin) async throws -> JSONObject {
        let text = form["userName"] ?? ""
        guard Self.isName(text) else {
            throw ChatError(
                .badRequest, message: "`userName` must have 4 to 15 letters, digits or `_`, and must not begin or end with `_`.",
                field: "userName")
        }
        let answer = try await self.accounts.register(
            try RegisterRequest(json: Self.credentials(text, form["password"] ?? "")), from: client)
        let data = try self.data(of: answer)
        guard let token = data["auth_token"]?.stringValue else { throw ChatError(.internal, message: "The account has no token.") }
        let session = try await self.accounts.session(legacy: token)
        // The apps show the presence of other users, so a new account shows its presence to all
        // users. The user can change the setting with another client.
        _ = try await self.chat.requests.answer(
            ChatVerbs.settingsSet.name, SettingsSetRequest(id: Self.requestID(), settings: UserSettings(lastSeen: .all)).json, of: session,
            from: client)
        if let path = form["headImageUrl"], !path.isEmpty, let picture = try await self.adopt(path, for: session, from: client) {
            _ = try await self.chat.requests.answer(
                ChatVerbs.profileSet.name, ProfileSetRequest(id: Self.requestID(), avatar: .set(picture.id)).json, of: session, from: client
            )
        }
        return data
    }

    private func login(_ form: [String: String], from client: ClientOrigin) async throws -> JSONObject {
        let request = try LoginRequest(json: Self.credentials(form["userName"] ?? "", form["password"] ?? ""))
        return try self.data(of: try await self.accounts.login(request, from: client))
    }

    private static func credentials(_ name: String, _ password: String) -> JSONValue {
        ["name": .string(name), "password": .string(password), "device": ["name": "FLSocketIM", "platform": "legacy"]]
    }

    private func data(of answer: SessionAnswer) throws -> JSONObject {
        guard let token = self.accounts.legacyToken(of: answer) else { throw ChatError(.internal, message: "The session has no token.") }
        return ["auth_token": .string(token), "auth_date": .integer(self.now())]
    }

    static func isName(_ text: String) -> Bool {
        (4...15).contains(text.utf8.count) && !text.hasPrefix("_") && !text.hasSuffix("_")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Returns the accounts that all users can find, and the online accounts among them whose
    /// presence is visible to all users.
    private func allUsers(for client: ClientOrigin) async throws -> JSONObject {
        try self.accounts.charge(.connection, to: client.keys)
        let found = try await LegacyUsers.entries { after in
            try await self.accounts.database.read { reads in
                try reads.accounts(after: after, limit: 200).map { row in
                    LegacyUsers.Entry(row: row, avatar: try row.privacy.avatar == .all ? row.avatar.flatMap { try reads.blob($0) } : nil)
                }
            }
        }
        var users: [JSONValue] = []
        var online: [JSONValue] = []
        for entry in found {
            let row = entry.row
            users.append([
                "name": .string(row.name.rawValue), "nickname": .string(row.nickname.isEmpty ? row.name.rawValue : row.nickname),
                "headImageUrl": .string(entry.avatar.map { self.paths.path(of: $0.id, type: $0.type) } ?? ""),
            ])
            if row.privacy.lastSeen == .all, self.chat.isOnline(row.key) { online.append(.string(row.name.rawValue)) }
        }
        return ["allUser": .array(users), "onLineUsers": .array(online)]
    }

    // MARK: Files

    /// The user of all preview requests of the apps, which send no credentials. These requests
    /// therefore share one turn.
    private static let previewUser = UserKey(-1)

    /// Stores a picture of a client that is not signed in.
    private func upload(_ request: Request, from client: ClientOrigin) async throws -> JSONObject {
        try self.accounts.charge(.upload, to: client.keys)
        let body = try await request.bytes(upTo: LegacyPictures.pictureBytes + 4_096)
        let contentType = request.headers[.contentType] ?? ""
        guard let bytes = LegacyForm.part("image", of: Array(body.readableBytesView), contentType: contentType), !bytes.isEmpty else {
            throw ChatError(.badRequest, message: "The form must have a file `image`.", field: "image")
        }
        guard bytes.count <= LegacyPictures.pictureBytes else {
            throw ChatError(.tooLarge, message: "The picture must have at most \(LegacyPictures.pictureBytes) bytes.", field: "image")
        }
        guard let (cleaned, type) = try await self.files.cleaned(bytes) else {
            throw ChatError(.badRequest, message: "The file must be a picture: JPEG, PNG, GIF or WebP.", field: "image")
        }
        let (now, id) = (self.now(), Self.secret())
        guard let path = self.pictures.withLockedValue({ $0.add(.init(bytes: cleaned, type: type), id: id, at: now) }) else {
            throw ChatError(.tooMany, message: "Too many pictures at the same time. Try again later.", retryAfter: 60_000)
        }
        return ["path": .string(path)]
    }

    /// Returns the file of a permanent path. The apps send no credentials, so knowledge of the
    /// secret path grants access.
    private func file(_ request: Request, _ context: HTTPContext) async throws -> Response {
        let missing = ChatError(.notFound, message: "The file does not exist.")
        let name = try context.parameters.require("name")
        if LegacyPaths.map.hasSuffix("/" + name) { return Self.shown(LegacyMap.picture, type: "image/png") }
        let now = self.now()
        if let picture = self.pictures.withLockedValue({ $0.picture(named: name, at: now) }) {
            return Self.shown(picture.bytes, type: picture.type)
        }
        guard let id = self.paths.blob(named: name), let blob = try await self.accounts.database.read({ try $0.blob(id) }), blob.size > 0
        else { throw missing }
        var caching = "private, max-age=31536000, immutable"
        var file = ServedFile(self.files, blob)
        if let form = LegacyPaths.form(of: name, type: blob.type) {
            if let preview = await self.files.preview(form, of: blob, for: Self.previewUser) {
                file = preview
            } else {
                guard form == .voice || blob.type.hasPrefix("image/") else { throw missing }
                caching = "private, max-age=60"
            }
        }
        return try await self.files.answer(
            request, with: file, caching: caching, for: "address " + context.client.text, on: context.channel)
    }

    private static func shown(_ bytes: [UInt8], type: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: type, .contentSecurityPolicy: "sandbox; default-src 'none'"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
