import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import HTTPTypes
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore

extension ChatRoutes {
    func addBlobRoutes(to router: Router<Context>) {
        router.get("/api/blobs/:blob") { request, context in try await self.download(request, context) }
        router.head("/api/blobs/:blob") { request, context in try await self.download(request, context).createHeadResponse() }
    }

    private func download(_ request: Request, _ context: Context) async throws -> Response {
        let session = try await self.session(of: request)
        let blob = try await self.readable(request, context, session)
        let tag = "\"\(blob.id.rawValue)\""
        var headers: HTTPFields = [
            .eTag: tag,
            // The name identifies the content, which never changes. Private, because a shared cache
            // does not check permissions.
            .cacheControl: "private, max-age=31536000, immutable", .acceptRanges: "bytes",
        ]
        if let tags = request.headers[.ifNoneMatch], tags == "*" || tags.contains(tag) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = blob.type
        headers[.contentSecurityPolicy] = "sandbox; default-src 'none'"
        if !MediaType.isShown(blob.type) { headers[.contentDisposition] = "attachment" }
        let isFresh = request.headers[.ifRange].map { $0 == tag } ?? true
        var status = HTTPResponse.Status.ok
        var bytes = 0...blob.size - 1
        switch ByteRange(isFresh ? request.headers[.range] : nil, size: blob.size) {
        case .whole: break
        case .part(let range):
            bytes = range
            status = .partialContent
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(blob.size)"
        case .unsatisfiable:
            return Response(status: .rangeNotSatisfiable, headers: [.contentRange: "bytes */\(blob.size)"])
        }
        guard let place = self.files.place(for: session.user) else {
            throw ChatError(.tooMany, message: "Too many downloads at the same time. Wait for one to end.", retryAfter: 1_000)
        }
        // A missing file is told before the answer begins.
        guard try await self.files.piece(of: blob.id, from: bytes.lowerBound, count: 1).readableBytes == 1 else {
            throw StorageError(.corrupt, message: "The file of blob \(blob.id) is missing.")
        }
        return Response(status: status, headers: headers, body: self.files.body(of: blob.id, bytes, place, on: context.channel))
    }

    /// The blob of a request, if its user may read it: an own upload, one of a visible event, or
    /// the picture of a user (`?user=`) or a conversation (`?conv=`).
    private func readable(_ request: Request, _ context: Context, _ session: AccountSession) async throws -> BlobRow {
        let missing = ChatError(.notFound, message: "The blob does not exist, or you may not read it.")
        guard let id = BlobID(try context.parameters.require("blob")) else { throw missing }
        let user = request.uri.queryParameters["user"].flatMap { UserName(String($0)) }
        let conversation = request.uri.queryParameters["conv"].flatMap { ConversationID(String($0)) }
        let found = try await self.accounts.database.read { reads -> BlobRow? in
            let isReadable =
                try reads.mayRead(BlobNeed(user: session.user, blob: id))
                || user.map { try reads.showsPicture(id, of: $0, to: session.user) } ?? false
                || conversation.map {
                    try reads.head(of: session.user, in: ConversationKey($0.number))?.conversation.profile.avatar == id
                } ?? false
            return isReadable ? try reads.blob(id) : nil
        }
        guard let found, found.size > 0 else { throw missing }
        return found
    }
}

extension ChatReads {
    /// Whether a user shows a picture to another one.
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

extension BlobStore {
    /// A download under way, which ends with its last reference.
    final class Place: Sendable {
        private let quota: NIOLockedValueBox<ConnectionQuota>
        private let user: String

        fileprivate init(_ quota: NIOLockedValueBox<ConnectionQuota>, _ user: String) {
            self.quota = quota
            self.user = user
        }

        deinit { self.quota.withLockedValue { $0.closed(from: self.user) } }
    }

    /// Counts a download; nil if the user or the server has its share.
    func place(for user: UserKey) -> Place? {
        let name = String(user.rawValue)
        return self.downloads.withLockedValue({ $0.opened(from: name) }) == nil ? Place(self.downloads, name) : nil
    }

    /// A body that is read at the pace of the client. A client that does not read holds at most
    /// three pieces.
    func body(of blob: BlobID, _ bytes: ClosedRange<Int64>, _ place: Place, on channel: any Channel) -> ResponseBody {
        let length = Int(bytes.upperBound - bytes.lowerBound + 1)
        return ResponseBody(contentLength: length) { writer in
            var offset = bytes.lowerBound
            while offset <= bytes.upperBound {
                let count = min(64 << 10, Int(bytes.upperBound - offset + 1))
                let piece = try await self.piece(of: blob, from: offset, count: count)
                guard piece.readableBytes > 0 else { throw ChannelError.eof }
                offset += Int64(piece.readableBytes)
                try await writer.write(piece)
                // The writer suspends while the channel is not writable, which it learns after the
                // event loop has carried out the write.
                try await channel.eventLoop.submit {}.get()
            }
            try await writer.finish(nil)
            withExtendedLifetime(place) {}
        }
    }
}
