import ApusChatProtocol
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import GRDB
import Logging

/// One function for each request of the protocol: read it, hand it to the store, answer, push.
extension ChatGateway {
    func register(_ socket: SocketIOServerSocket, _ identity: AccountRows.Identity) {
        let user = identity.user
        self.on(ChatVerb.hello, socket, identity) { (_: HelloRequest, event) in self.hello(user, event) }
        self.on(ChatVerb.send, socket, identity) { (request: SendRequest, event) in self.send(request, user, socket, event) }
        self.on(ChatVerb.sync, socket, identity) { (request: SyncRequest, event) in self.sync(request, user, event) }
        self.on(ChatVerb.mark, socket, identity) { (request: MarkRequest, event) in self.mark(request, user, socket, event) }
        self.on(ChatVerb.open, socket, identity) { (request: OpenRequest, event) in
            let (id, now) = (Secrets.newID(), self.now())
            self.make(socket, user, event) { db in try Conversations.open(with: request.with, by: user, newID: id, at: now, db) }
        }
        self.on(ChatVerb.create, socket, identity) { (request: CreateRequest, event) in
            let (id, now) = (Secrets.newID(), self.now())
            self.make(socket, user, event) { db in try Conversations.create(request, by: user, newID: id, at: now, db) }
        }
        self.on(ChatVerb.users, socket, identity) { (request: UsersRequest, event) in self.users(request, event) }
    }

    /// Reads the one argument of a request; what cannot be read is answered and goes no further.
    private func on<Request: Decodable & Sendable>(
        _ verb: String, _ socket: SocketIOServerSocket, _ identity: AccountRows.Identity,
        _ handler: @escaping @Sendable (Request, SocketIOEvent) -> Void
    ) {
        socket.on(verb) { (event: SocketIOEvent) in
            guard identity.expiresAt > self.now() else {
                self.acknowledge(event, ChatError(.unauthorized, message: "the token's time is over; sign in again"))
                return self.sayGoodbye(to: identity.device, .expired)
            }
            do {
                handler(try JSONValueDecoder().decode(Request.self, from: event.arguments.first ?? [:]), event)
            } catch {
                self.acknowledge(event, ChatError(.badRequest, message: "`\(verb)`: \(Self.explain(error))"))
            }
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

    private func answer(_ event: SocketIOEvent, _ result: Result<some Encodable & Sendable, ChatError>) {
        switch result {
        case .success(let reply): self.acknowledge(event, reply)
        case .failure(let error): self.acknowledge(event, error)
        }
    }

    private func acknowledge(_ event: SocketIOEvent, _ reply: some Encodable & Sendable) {
        do {
            event.acknowledge(try JSONValueEncoder().encode(reply))
        } catch {
            self.logger.error("An answer could not be encoded", metadata: ["chat.verb": "\(event.name)", "error": "\(error)"])
            event.acknowledge(["error": ["code": "internal", "message": "the server could not answer"]])
        }
    }

    // MARK: Requests

    private func hello(_ user: UserID, _ event: SocketIOEvent) {
        let now = self.now()
        self.store.read({ db in
            guard let me = try Users.user(user, db) else { throw ChatError(.unauthorized, message: "this account is gone") }
            return HelloReply(user: me, users: try Users.contacts(of: user, db), at: now)
        }) { result in
            self.answer(
                event,
                result.map { reply in
                    HelloReply(user: self.withPresence(reply.user), users: reply.users.map(self.withPresence), at: reply.at)
                })
        }
    }

    private func send(_ request: SendRequest, _ user: UserID, _ socket: SocketIOServerSocket, _ event: SocketIOEvent) {
        let now = self.now()
        self.store.write({ db in try ChatLog.send(request, from: user, at: now, db) }) { result in
            self.answer(event, result.map(\.reply))
            if case .success(let sent) = result, let stored = sent.event {
                self.push(ChatVerb.event, stored, to: sent.members, except: socket)
            }
        }
    }

    private func sync(_ request: SyncRequest, _ user: UserID, _ event: SocketIOEvent) {
        if case .heads(let since) = request {
            let now = self.now()
            self.store.read({ db in HeadsReply(heads: try Conversations.heads(since: since, for: user, db), at: now) }) {
                self.answer(event, $0)
            }
        } else {
            self.store.read({ db in try ChatLog.events(request, for: user, db) }) { self.answer(event, $0) }
        }
    }

    private func mark(_ request: MarkRequest, _ user: UserID, _ socket: SocketIOServerSocket, _ event: SocketIOEvent) {
        let now = self.now()
        self.store.write({ db in try ChatLog.mark(request, by: user, at: now, db) }) { result in
            self.answer(event, result.map(\.reply))
            if case .success(let marked) = result, marked.hasMoved {
                self.push(
                    ChatVerb.mark, ChatMark(conv: request.conv, user: user, read: marked.reply.read), to: marked.members, except: socket)
            }
        }
    }

    /// `open` and `create`: the maker's other devices and the others learn of the new conversation by its head.
    private func make(
        _ socket: SocketIOServerSocket, _ user: UserID, _ event: SocketIOEvent,
        _ body: @escaping @Sendable (Database) throws -> Conversations.Made
    ) {
        self.store.write(body) { result in
            self.answer(event, result.map { HeadReply(head: $0.head) })
            guard case .success(let made) = result, !made.others.isEmpty else { return }
            self.push(ChatVerb.head, made.head, to: [user], except: socket)
            for (other, head) in made.others { self.push(ChatVerb.head, head, to: [other]) }
        }
    }

    private func users(_ request: UsersRequest, _ event: SocketIOEvent) {
        self.store.read({ db in UsersReply(users: try Users.find(prefix: request.query ?? "", db)) }) { result in
            self.answer(event, result.map { UsersReply(users: $0.users.map(self.withPresence)) })
        }
    }
}
