import ApusChatProtocol
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import GRDB

/// The requests of the protocol. Each one is decoded, carried out by the store, answered and
/// pushed.
extension ChatGateway {
    func register(_ socket: SocketIOServerSocket, _ identity: AccountRows.Identity) {
        let user = identity.user
        let permits = Permits(PendingRequest.maximumPerSocket)
        let queue = LargeResponseQueue(socket)
        func on<Request: Decodable & Sendable>(
            _ verb: String, in queue: LargeResponseQueue? = nil, _ handler: @escaping @Sendable (Request, PendingRequest) -> Void
        ) {
            self.on(verb, socket, identity, permits, queue, handler)
        }
        on(ChatVerb.hello, in: queue) { (request: HelloRequest, pending) in self.hello(request, user, pending) }
        on(ChatVerb.send) { (request: SendRequest, pending) in self.send(request, user, socket, pending) }
        on(ChatVerb.sync, in: queue) { (request: SyncRequest, pending) in self.sync(request, user, pending) }
        on(ChatVerb.mark) { (request: MarkRequest, pending) in self.mark(request, user, socket, pending) }
        on(ChatVerb.open) { (request: OpenRequest, pending) in
            let id = Secrets.newID()
            self.make(socket, user, pending) { now, db in try Conversations.open(with: request.with, by: user, newID: id, at: now, db) }
        }
        on(ChatVerb.create) { (request: CreateRequest, pending) in
            let id = Secrets.newID()
            self.make(socket, user, pending) { now, db in try Conversations.create(request, by: user, newID: id, at: now, db) }
        }
        on(ChatVerb.users) { (request: UsersRequest, pending) in self.users(request, pending) }
    }

    /// Registers a handler for a request. Invalid requests are answered without calling it.
    private func on<Request: Decodable & Sendable>(
        _ verb: String, _ socket: SocketIOServerSocket, _ identity: AccountRows.Identity, _ permits: Permits, _ queue: LargeResponseQueue?,
        _ handler: @escaping @Sendable (Request, PendingRequest) -> Void
    ) {
        socket.on(verb) { (event: SocketIOReceivedEvent) in
            guard identity.expiresAt > self.now() else {
                event.acknowledge(ChatError(.unauthorized, message: "the token has expired; sign in again"), self.logger)
                return self.announceEnd(to: identity.device, .expired)
            }
            let request: Request
            do {
                request = try JSONValueDecoder().decode(Request.self, from: event.arguments.first ?? [:])
            } catch {
                return event.acknowledge(ChatError(.badRequest, message: "`\(verb)`: \(Self.explain(error))"), self.logger)
            }
            guard let pending = PendingRequest(event, permits, queue) else {
                let most = PendingRequest.maximumPerSocket
                return event.acknowledge(
                    ChatError(.tooMany, message: "at most \(most) requests can be pending; wait for the answers"), self.logger)
            }
            if let queue { queue.submit { handler(request, pending) } } else { handler(request, pending) }
        }
    }

    private static func explain(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): return "`\(key.stringValue)` is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? context.debugDescription : "`\(path)`: \(context.debugDescription)"
        default: return "the request cannot be decoded"
        }
    }

    // MARK: Requests

    private func hello(_ request: HelloRequest, _ user: UserID, _ pending: PendingRequest) {
        let now = self.now()
        self.store.read({ db in
            guard let me = try Users.user(user, db) else { throw ChatError(.unauthorized, message: "the account no longer exists") }
            let contacts = try Users.contacts(of: user, page: request.page, db)
            return HelloReply(user: me, users: contacts.users, page: contacts.next, at: now)
        }) { result in
            pending.answer(
                result.map { reply in
                    var reply = reply
                    reply.user = self.withPresence(reply.user)
                    reply.users = reply.users.map(self.withPresence)
                    return reply
                }, self.logger)
        }
    }

    private func send(_ request: SendRequest, _ user: UserID, _ socket: SocketIOServerSocket, _ pending: PendingRequest) {
        self.store.write({ db in try ChatLog.send(request, from: user, at: self.store.clock.stamp(), db) }) { result in
            pending.answer(result.map(\.reply), self.logger)
            if case .success(let sent) = result, let stored = sent.event {
                self.push(ChatVerb.event, stored, to: sent.members, except: socket)
            }
        }
    }

    private func sync(_ request: SyncRequest, _ user: UserID, _ pending: PendingRequest) {
        if case .heads(let since, let page) = request {
            // Read before the snapshot is taken: a change outside the snapshot has this stamp or a
            // later one.
            let now = self.store.clock.lastCommitted
            self.store.read({ db in
                let token = try page.map(HeadsPageToken.init)
                let position = token.map { HeadsPosition.all(after: $0.after) } ?? .newest
                let found = try Conversations.heads(since: since, from: position, for: user, db)
                let at = token?.at ?? now
                return HeadsReply(heads: found.heads, page: found.next.map { HeadsPageToken(at: at, $0).text }, at: at)
            }) { pending.answer($0, self.logger) }
        } else {
            self.store.read({ db in try ChatLog.events(request, for: user, db) }) { pending.answer($0, self.logger) }
        }
    }

    private func mark(_ request: MarkRequest, _ user: UserID, _ socket: SocketIOServerSocket, _ pending: PendingRequest) {
        self.store.write({ db in try ChatLog.mark(request, by: user, at: self.store.clock.stamp(), db) }) { result in
            pending.answer(result.map(\.reply), self.logger)
            if case .success(let marked) = result, marked.hasMoved {
                self.push(
                    ChatVerb.mark, ChatMark(conv: request.conv, user: user, read: marked.reply.read), to: marked.members, except: socket)
            }
        }
    }

    /// Handles `open` and `create`. The user's other devices and the other members receive the head
    /// of a new conversation.
    private func make(
        _ socket: SocketIOServerSocket, _ user: UserID, _ pending: PendingRequest,
        _ body: @escaping @Sendable (Int64, Database) throws -> Conversations.Made
    ) {
        self.store.write({ db in try body(self.store.clock.stamp(), db) }) { result in
            pending.answer(result.map { HeadReply(head: $0.head) }, self.logger)
            guard case .success(let made) = result, !made.others.isEmpty else { return }
            self.push(ChatVerb.head, made.head, to: [user] + made.others, except: socket)
        }
    }

    private func users(_ request: UsersRequest, _ pending: PendingRequest) {
        self.store.read({ db in try UserSearch.page(request.query ?? "", after: request.after, db) }) { result in
            pending.answer(result.map { UsersReply(users: $0.users.map(self.withPresence), next: $0.next) }, self.logger)
        }
    }
}
