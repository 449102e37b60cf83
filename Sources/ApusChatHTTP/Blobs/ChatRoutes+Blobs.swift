import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import ApusJSON
import HTTPTypes
package import Hummingbird
import NIOConcurrencyHelpers
package import NIOCore

extension ChatRoutes {
    func addBlobRoutes(to router: Router<Context>) {
        router.get("/api/blobs/:blob") { request, context in try await self.download(request, context) }
        router.head("/api/blobs/:blob") { request, context in try await self.download(request, context).createHeadResponse() }
        router.post("/api/blobs/:blob/link") { request, context in try await self.link(request, context) }
    }

    /// Responds with a path of a blob that is valid without a session until the path expires. The
    /// query of the path contains the parameters of the request and the secret `signed`.
    private func link(_ request: Request, _ context: Context) async throws -> Response {
        let session = try await self.session(of: request)
        try self.accounts.charge(.request, to: [.account(session.user)] + context.client.keys)
        _ = try Self.size(request)
        let blob = try await self.readable(request, context, session, isLink: true).id
        let link = self.accounts.link(to: blob, of: session)
        let query = (request.uri.query ?? "").split(separator: "&").map(String.init).filter { part in
            Self.linkParameters.contains { part.hasPrefix($0 + "=") }
        }
        let signed = "signed=" + self.accounts.tokens.text(of: link, to: blob)
        let path = "/api/blobs/\(blob)?" + (query + [signed]).joined(separator: "&")
        return try .json(value: .object(["path": .string(path), "expires_at": .integer(link.expiresAt)]))
    }

    /// The query parameters that are copied to a link from the request that creates the link.
    private static let linkParameters = ["size", "user", "conv", "link"]

    /// Returns the session that reads a blob: the session that created the signed link, if the
    /// request contains a link, otherwise the session of the request.
    private func reader(_ request: Request, _ context: Context) async throws -> AccountSession {
        guard let link = request.uri.queryParameters["signed"] else { return try await self.session(of: request) }
        guard let blob = BlobID(try context.parameters.require("blob")) else { throw Self.missing }
        return try await self.accounts.session(link: String(link), to: blob)
    }

    private static let missing = ChatError(.notFound, message: "The blob does not exist, or you may not read it.")

    private func download(_ request: Request, _ context: Context) async throws -> Response {
        let session = try await self.reader(request, context)
        let isLink = request.uri.queryParameters["signed"] != nil
        let kind = try Self.size(request)
        let blob = try await self.readable(request, context, session, isLink: isLink)
        // The response is private, because a shared cache does not check permissions.
        var caching = "private, max-age=31536000, immutable"
        var file = ServedFile(self.files, blob)
        if let kind {
            if let preview = await self.files.preview(kind, of: blob, for: session.user) {
                file = preview
            } else {
                guard blob.type.hasPrefix("image/") else {
                    throw ChatError(.notFound, message: "The file has no preview, or the server could not make it in time.")
                }
                // The preview may exist later.
                caching = "private, max-age=60"
            }
        }
        // A copy in a cache would be available after the link has expired.
        if isLink { caching = "private, no-cache" }
        return try await self.files.answer(request, with: file, caching: caching, for: String(session.user.rawValue), on: context.channel)
    }

    private static func size(_ request: Request) throws(ChatError) -> PreviewKind? {
        guard let text = request.uri.queryParameters["size"] else { return nil }
        guard let kind = PreviewKind(size: String(text)) else {
            throw ChatError(
                .badRequest, message: "`size` must be thumbnail, preview, or a number of pixels from 1 to 16384.", field: "size")
        }
        return kind
    }

    /// Returns the blob of a request if its user may read the blob: an upload of the user, a blob
    /// of a visible event, or a picture. A picture belongs to a user (`?user=`), to a conversation
    /// that the user is in or that the directory lists (`?conv=`), or to the conversation of an
    /// invite link (`?link=`).
    ///
    /// - Parameter isLink: Whether the blob is read by a link, which ends with the membership.
    private func readable(_ request: Request, _ context: Context, _ session: AccountSession, isLink: Bool) async throws -> BlobRow {
        guard let id = BlobID(try context.parameters.require("blob")) else { throw Self.missing }
        let user = request.uri.queryParameters["user"].flatMap { UserName(String($0)) }
        let conversation = request.uri.queryParameters["conv"].flatMap { ConversationID(String($0)) }
        let link = request.uri.queryParameters["link"].flatMap { LinkCode(String($0)) }
        let time = self.accounts.clock.now()
        let found = try await self.accounts.database.read { reads -> BlobRow? in
            let isReadable =
                try reads.mayRead(BlobNeed(user: session.user, blob: id, asMember: isLink))
                || user.map { try reads.showsPicture(id, of: $0, to: session.user) } ?? false
                || conversation.map { try reads.showsPicture(id, of: ConversationKey($0.number), to: session.user) } ?? false
                || link.map { try reads.showsPicture(id, of: $0, at: time) } ?? false
            return isReadable ? try reads.blob(id) : nil
        }
        guard let found, found.size > 0 else { throw Self.missing }
        return found
    }
}

extension BlobFiles {
    /// Returns the response to a request for a file: the whole file, a range of it, or 304.
    ///
    /// - Parameters:
    ///   - file: The file, which is not empty.
    ///   - caching: The value of `Cache-Control`. The content of a blob never changes.
    ///   - owner: The name under which the running downloads of the client are counted.
    package func answer(
        _ request: Request, with file: ServedFile, caching: String, for owner: String, on channel: any Channel
    ) async throws -> Response {
        let tag = "\"\(file.name)\""
        var headers: HTTPFields = [
            .eTag: tag,
            .cacheControl: caching, .acceptRanges: "bytes",
        ]
        if let tags = request.headers[.ifNoneMatch], tags == "*" || tags.contains(tag) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = file.type
        headers[.contentSecurityPolicy] = "sandbox; default-src 'none'"
        if !MediaType.isShown(file.type) { headers[.contentDisposition] = "attachment" }
        // Ranges are defined for GET only (RFC 9110 section 14.2).
        let isFresh = request.method == .get && request.headers[.ifRange].map { $0 == tag } ?? true
        var status = HTTPResponse.Status.ok
        var bytes = 0...file.size - 1
        switch ByteRange(isFresh ? request.headers[.range] : nil, size: file.size) {
        case .whole: break
        case .part(let range):
            bytes = range
            status = .partialContent
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(file.size)"
        case .unsatisfiable:
            return Response(status: .rangeNotSatisfiable, headers: [.contentRange: "bytes */\(file.size)"])
        }
        guard let place = self.place(for: owner) else {
            throw ChatError(
                .tooMany, message: "Too many downloads are running for this account or on this server. Wait until one has ended.",
                retryAfter: 1_000)
        }
        // A missing file must be detected before the response begins.
        let content = try await file.open(bytes)
        return Response(status: status, headers: headers, body: self.body(of: content, bytes, place, on: channel))
    }
}

extension ChatReads {
    /// Returns whether a blob is the picture of a conversation that a user is in or finds in the
    /// directory.
    fileprivate func showsPicture(_ blob: BlobID, of key: ConversationKey, to viewer: UserKey) throws -> Bool {
        if try self.head(of: viewer, in: key)?.conversation.profile.avatar == blob { return true }
        return try self.listedConversation(key)?.profile.avatar == blob
    }

    /// Returns whether a blob is the picture of the conversation of a valid invite link.
    fileprivate func showsPicture(_ blob: BlobID, of code: LinkCode, at time: Int64) throws -> Bool {
        guard let (link, conversation) = try self.link(code.rawValue), !link.isRevoked, link.usesLeft != 0,
            link.expiresAt == 0 || link.expiresAt > time, !conversation.counters.isDeleted
        else { return false }
        return conversation.profile.avatar == blob
    }

    /// Returns whether a blob is a user's picture that another user may see.
    fileprivate func showsPicture(_ blob: BlobID, of name: UserName, to viewer: UserKey) throws -> Bool {
        guard let key = try self.userKeys(named: [name]).first ?? nil, let account = try self.accounts([key]).first,
            account.state == .active, account.avatar == blob
        else { return false }
        switch account.privacy.avatar {
        case .all: return true
        case .contacts:
            let contact = try self.contacts(of: key, after: UserKey(viewer.rawValue - 1), limit: 1).first
            return contact?.address.peer == viewer && contact?.relation == .friend
        default: return false
        }
    }
}

extension BlobFiles {
    /// A running download. It is counted until the last reference to this object is released.
    final class Place: Sendable {
        private let quota: NIOLockedValueBox<ConnectionQuota>
        private let user: String

        fileprivate init(_ quota: NIOLockedValueBox<ConnectionQuota>, _ user: String) {
            self.quota = quota
            self.user = user
        }

        deinit { self.quota.withLockedValue { $0.closed(from: self.user) } }
    }

    /// Counts a download; nil if the owner or the server has the maximum number of downloads.
    func place(for name: String) -> Place? {
        self.downloads.withLockedValue({ $0.opened(from: name) }) == nil ? Place(self.downloads, name) : nil
    }

    /// Returns a body that is read as fast as the client receives it. A client that does not read
    /// occupies at most three pieces.
    func body(of content: BlobBytes, _ bytes: ClosedRange<Int64>, _ place: Place, on channel: any Channel) -> ResponseBody {
        let length = Int(bytes.upperBound - bytes.lowerBound + 1)
        return ResponseBody(contentLength: length) { writer in
            var missing = length
            for try await piece in content {
                missing -= piece.readableBytes
                try await writer.write(piece)
                // The writer suspends while the channel is not writable. It detects that state only
                // after the event loop has performed the previous write.
                try await channel.eventLoop.submit {}.get()
            }
            guard missing == 0 else { throw ChannelError.eof }
            try await writer.finish(nil)
            withExtendedLifetime(place) {}
        }
    }
}
