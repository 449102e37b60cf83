import ApusChatProtocol
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import GRDB

/// One function for each request of the protocol: read it, hand it to the store, answer, push.
extension ChatGateway {
    func register(_ socket: SocketIOServerSocket, _ identity: AccountRows.Identity) {
        let user = identity.user
        let permits = Permits(PendingRequest.maximumPerSocket)
        let lane = LargeResponseQueue(socket)
        func on<Request: Decodable & Sendable>(
            _ verb: String, in lane: LargeResponseQueue? = nil, _ handler: @escaping @Sendable (Request, PendingRequest) -> Void
        ) {
            self.on(verb, socket, identity, permits, lane, handler)
        }
        on(ChatVerb.hello, in: lane) { (request: HelloRequest, question) in self.hello(request, user, question) }
        on(ChatVerb.send) { (request: SendRequest, question) in self.send(request, user, socket, question) }
        on(ChatVerb.sync, in: lane) { (request: SyncRequest, question) in self.sync(request, user, question) }
        on(ChatVerb.mark) { (request: MarkRequest, question) in self.mark(request, user, socket, question) }
        on(ChatVerb.open) { (request: OpenRequest, question) in
            let id = Secrets.newID()
            self.make(socket, user, question) { now, db in try Conversations.open(with: request.with, by: user, newID: id, at: now, db) }
        }
        on(ChatVerb.create) { (request: CreateRequest, question) in
            let id = Secrets.newID()
            self.make(socket, user, question) { now, db in try Conversations.create(request, by: user, newID: id, at: now, db) }
        }
        on(ChatVerb.users) { (request: UsersRequest, question) in self.users(request, question) }
    }

    /// Reads the one argument of a request; what cannot be read is answered and goes no further.
    private func on<Request: Decodable & Sendable>(
        _ verb: String, _ socket: SocketIOServerSocket, _ identity: AccountRows.Identity, _ permits: Permits, _ lane: LargeResponseQueue?,
        _ handler: @escaping @Sendable (Request, PendingRequest) -> Void
    ) {
        socket.on(verb) { (event: SocketIOEvent) in
            guard identity.expiresAt > self.now() else {
                event.acknowledge(ChatError(.unauthorized, message: "the token's time is over; sign in again"), self.logger)
                return self.announceEnd(to: identity.device, .expired)
            }
            let request: Request
            do {
                request = try JSONValueDecoder().decode(Request.self, from: event.arguments.first ?? [:])
            } catch {
                return event.acknowledge(ChatError(.badRequest, message: "`\(verb)`: \(Self.explain(error))"), self.logger)
            }
            guard let question = PendingRequest(event, permits, lane) else {
                let most = PendingRequest.maximumPerSocket
                return event.acknowledge(
                    ChatError(.tooMany, message: "at most \(most) requests at a time; wait for the answers"), self.logger)
            }
            if let lane { lane.submit { handler(request, question) } } else { handler(request, question) }
        }
    }

    private static func explain(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): return "`\(key.stringValue)` is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? context.debugDescription : "`\(path)`: \(context.debugDescription)"
        default: return "cannot be read"
        }
    }

    // MARK: Requests

    private func hello(_ request: HelloRequest, _ user: UserID, _ question: PendingRequest) {
        let now = self.now()
        self.store.read({ db in
            guard let me = try Users.user(user, db) else { throw ChatError(.unauthorized, message: "this account is gone") }
            let contacts = try Users.contacts(of: user, page: request.page, db)
            return HelloReply(user: me, users: contacts.users, page: contacts.next, at: now)
        }) { result in
            question.answer(
                result.map { reply in
                    var reply = reply
                    reply.user = self.withPresence(reply.user)
                    reply.users = reply.users.map(self.withPresence)
                    return reply
                }, self.logger)
        }
    }

    private func send(_ request: SendRequest, _ user: UserID, _ socket: SocketIOServerSocket, _ question: PendingRequest) {
        self.store.write({ db in try ChatLog.send(request, from: user, at: self.store.clock.stamp(), db) }) { result in
            question.answer(result.map(\.reply), self.logger)
            if case .success(let sent) = result, let stored = sent.event {
                self.push(ChatVerb.event, stored, to: sent.members, except: socket)
            }
        }
    }

    private func sync(_ request: SyncRequest, _ user: UserID, _ question: PendingRequest) {
        if case .heads(let since, let page) = request {
            // Before the snapshot is taken: what it lacks is stamped with this time or a later one.
            let now = self.store.clock.lastCommitted
            self.store.read({ db in
                let token = try page.map(HeadsPageToken.init)
                let position = token.map { HeadsPosition.all(after: $0.after) } ?? .newest
                let found = try Conversations.heads(since: since, from: position, for: user, db)
                let at = token?.at ?? now
                return HeadsReply(heads: found.heads, page: found.next.map { HeadsPageToken(at: at, $0).text }, at: at)
            }) { question.answer($0, self.logger) }
        } else {
            self.store.read({ db in try ChatLog.events(request, for: user, db) }) { question.answer($0, self.logger) }
        }
    }

    private func mark(_ request: MarkRequest, _ user: UserID, _ socket: SocketIOServerSocket, _ question: PendingRequest) {
        self.store.write({ db in try ChatLog.mark(request, by: user, at: self.store.clock.stamp(), db) }) { result in
            question.answer(result.map(\.reply), self.logger)
            if case .success(let marked) = result, marked.hasMoved {
                self.push(
                    ChatVerb.mark, ChatMark(conv: request.conv, user: user, read: marked.reply.read), to: marked.members, except: socket)
            }
        }
    }

    /// `open` and `create`: the maker's other devices and the others learn of the new conversation by its head.
    private func make(
        _ socket: SocketIOServerSocket, _ user: UserID, _ question: PendingRequest,
        _ body: @escaping @Sendable (Int64, Database) throws -> Conversations.Made
    ) {
        self.store.write({ db in try body(self.store.clock.stamp(), db) }) { result in
            question.answer(result.map { HeadReply(head: $0.head) }, self.logger)
            guard case .success(let made) = result, !made.others.isEmpty else { return }
            self.push(ChatVerb.head, made.head, to: [user] + made.others, except: socket)
        }
    }

    private func users(_ request: UsersRequest, _ question: PendingRequest) {
        self.store.read({ db in try UserSearch.page(request.query ?? "", after: request.after, db) }) { result in
            question.answer(result.map { UsersReply(users: $0.users.map(self.withPresence), next: $0.next) }, self.logger)
        }
    }
}
