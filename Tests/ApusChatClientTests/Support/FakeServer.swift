import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import NIOConcurrencyHelpers

@testable import ApusChatClient

/// A chat server in the process of the test: the decisions of the core on a storage in memory, and
/// a connection for each client. It handles each request as a separate batch.
final class FakeServer: @unchecked Sendable {  // `lock` guards all members
    private let lock = NIOLock()
    let storage = MemoryStorage()
    /// The limits in the answer to `hello`.
    private var limits = HelloLimits()
    private(set) var names: [UserKey: UserName] = [:]
    private var keys: [UserName: UserKey] = [:]
    private var lastKey: Int64 = 1_000
    private(set) var now: Int64 = 1_700_000_000_000
    private(set) var connections: [FakeTransport] = []
    var uploads = FakeUploads()
    /// The access to a media server in the answers to verbs of calls.
    var callAccess: CallAccess?
    private var callWatch = CallWatch(ringTime: .seconds(60), absenceTime: .seconds(30))
    private(set) var logouts: [String] = []
    private(set) var refreshes = 0
    var requests: [String: Int] = [:]
    /// The number of next answers that are lost together with their connection.
    private var answersToLose = 0
    /// The number of next messages that are acknowledged and not stored.
    private var sendsToForget = 0
    /// The number of next pushes that are not sent.
    private var pushesToLose = 0
    /// Whether the pushes that are sent are sent twice.
    private var repeatsPushes = false
    /// The scripted answers.
    private var scripts = FakeScripts()
    /// The contents of the requests by verb.
    private var payloads: [String: [JSONValue]] = [:]
    /// The read positions in the answer to `members`.
    private var reads: [UserName: Int64] = [:]
    /// The contacts, which are the same for every user.
    private var contacts: [Contact] = []
    private(set) var scheduled: [ScheduledMessage] = []
    /// The drafts, by the row of the member.
    private(set) var drafts: [MemberAddress: Draft] = [:]
    private(set) var isReachable = true
    /// The epoch of the data.
    private var epoch = 1
    /// The number of the valid access token.
    private var token = 1
    private var isRevoked = false

    func locked<Value>(_ body: () throws -> Value) rethrows -> Value { try self.lock.withLock(body) }

    // MARK: Set-up

    func setCallAccess(_ access: CallAccess?) { self.locked { self.callAccess = access } }
    func setLimits(_ limits: HelloLimits) { self.locked { self.limits = limits } }

    @discardableResult
    func user(_ name: UserName) -> UserKey {
        self.locked {
            let key = UserKey(self.nextKey())
            self.storage.addAccount(
                AccountRow(key: key, name: name, nickname: name.rawValue, selfConversation: ConversationKey(self.nextKey())), at: self.now)
            self.names[key] = name
            self.keys[name] = key
            return key
        }
    }

    func conversation(_ kind: ConversationKind, _ members: [UserName]) -> ConversationID {
        self.locked {
            let keys = members.compactMap { self.keys[$0] }
            let key = ConversationKey(self.nextKey())
            var row = ConversationRow(
                key: key, kind: kind, pair: kind == .pair ? PairAddress(keys[0], keys[1]) : nil, createdAt: self.now,
                settings: ConversationSettings())
            row.counters.memberCount = keys.count
            var changes = Changes()
            changes.conversations = [ConversationChange(key: key, counters: row.counters, row: row, isNew: true)]
            changes.members = keys.enumerated().map { index, user in
                MemberRow(address: MemberAddress(key, user), role: kind != .pair && index == 0 ? .owner : .member, state: .joined)
            }
            _ = try? self.storage.begin(Needs())
            _ = try? self.storage.commit(changes)
            return ConversationID(number: key.rawValue)
        }
    }

    /// Sends a message of a user who needs no client, and delivers its pushes.
    func write(_ text: String, by user: UserName, in conversation: ConversationID) {
        let pushes = self.locked { () -> [Push] in
            guard let key = self.keys[user] else { return [] }
            let content = MessageContent(kind: .text, body: Self.text(["text": .string(text)]))
            let action = Command.Action.send(SendCommand(conversation: ConversationKey(conversation.number), content: .success(content)))
            return self.run(self.command(key, action, id: "w\(self.nextKey())")).pushes
        }
        self.deliver(pushes)
    }

    /// Performs a command of a user who needs no client, and delivers its pushes.
    func change(_ action: Command.Action, by user: UserName) {
        let pushes = self.locked { () -> [Push] in
            guard let key = self.keys[user] else { return [] }
            return self.run(self.command(key, action, id: "w\(self.nextKey())")).pushes
        }
        self.deliver(pushes)
    }

    func setRead(_ n: Int64, of user: UserName) { self.locked { self.reads[user] = n } }
    func set(contacts: [Contact]) { self.locked { self.contacts = contacts } }

    /// Sends a reply in a thread, of a user who needs no client, and delivers its pushes.
    func reply(_ text: String, by user: UserName, to root: Int64, in conversation: ConversationID) {
        let content = MessageContent(kind: .text, body: Self.text(["text": .string(text)]))
        self.change(
            .send(SendCommand(conversation: ConversationKey(conversation.number), content: .success(content), thread: root)), by: user)
    }

    /// Sends a push to all connections.
    func push(_ name: String, _ payload: JSONValue) {
        for connection in self.locked({ self.connections }) { connection.push(name, payload) }
    }

    // MARK: Faults

    func loseAnswers(_ count: Int) { self.locked { self.answersToLose = count } }
    /// Loses the next answer to a verb together with its connection.
    func loseAnswer(to verb: String) { self.locked { self.scripts.losses[verb, default: 0] += 1 } }
    /// Acknowledges the next messages without storing them. An earlier state of the server, which a
    /// restore of its data brings back, does not contain them.
    func forgetSends(_ count: Int) { self.locked { self.sendsToForget = count } }
    func losePushes(_ count: Int) { self.locked { self.pushesToLose = count } }
    func repeatPushes() { self.locked { self.repeatsPushes = true } }
    /// Answers the next request of a verb with an error.
    func fail(_ verb: String, with error: ChatError) { self.locked { self.scripts.failures[verb, default: []].append(error) } }
    /// Answers a verb with these values in order, and repeats the last one.
    func script(_ verb: String, _ answers: JSONValue...) { self.locked { self.scripts.answers[verb] = answers } }
    /// Sends pushes before and after each answer to a verb, to the connection that sent it.
    func push(around verb: String, before: [(String, JSONValue)], after: [(String, JSONValue)]) {
        self.locked { self.scripts.frames[verb] = (before, after) }
    }
    func frames(around verb: String) -> FakeScripts.Frames? { self.locked { self.scripts.frames(around: verb) } }
    /// Leaves all further requests of a verb without an answer.
    func withhold(_ verb: String) { self.locked { _ = self.scripts.withheld.insert(verb) } }
    /// Answers further requests of a verb again. Those that were left without an answer get none.
    func release(_ verb: String) { self.locked { _ = self.scripts.withheld.remove(verb) } }
    func setReachable(_ value: Bool) { self.locked { self.isReachable = value } }
    func renewEpoch() { self.locked { self.epoch += 1 } }
    func expireTokens() { self.locked { self.token += 1 } }
    func revoke() { self.locked { self.isRevoked = true } }

    func disconnectAll() {
        let connections = self.locked {
            defer { self.connections = [] }
            return self.connections
        }
        for connection in connections { connection.lost() }
    }

    /// Sends `bye` to all clients and closes their connections, as at a restart.
    func restart(saying bye: ByePush = ByePush(reason: .shutdown, retryAfter: 1)) {
        let connections = self.locked {
            defer { self.connections = [] }
            return self.connections
        }
        for connection in connections {
            connection.push(ChatPushes.bye.name, bye.json)
            connection.lost(reconnects: true)
        }
    }

    /// Returns the texts of the messages of a conversation that a user sees, in order.
    func texts(in conversation: ConversationID, as user: UserName) -> [String] {
        self.locked {
            guard let key = self.keys[user] else { return [] }
            return self.storage.events(in: ConversationKey(conversation.number), .from(1), as: key, limit: 10_000).compactMap { view in
                view.row.flatMap { $0.isMessage ? self.event(view, in: conversation).body["text"]?.stringValue : nil }
            }
        }
    }

    /// Returns the log of a conversation as a user sees it, up to 10,000 events.
    func events(in conversation: ConversationID, as user: UserName) -> [ChatEvent] {
        self.locked {
            guard let key = self.keys[user] else { return [] }
            return self.storage.events(in: ConversationKey(conversation.number), .from(1), as: key, limit: 10_000)
                .map { self.event($0, in: conversation) }
        }
    }

    func count(of verb: String) -> Int { self.locked { self.requests[verb] ?? 0 } }

    /// Returns the requests of a verb in the order of their arrival.
    func requests(of verb: String) -> [JSONValue] { self.locked { self.payloads[verb] ?? [] } }

    // MARK: Connections

    var network: ChatNetwork {
        ChatNetwork(
            http: { _, _ throws(ChatClientError) in FakeHTTP(server: self) },
            connect: { _, access, _, _ in FakeTransport(server: self, access: access) })
    }

    /// Registers a connection.
    ///
    /// - Returns: The refusal; nil if the connection is accepted.
    func accept(_ transport: FakeTransport, access: String) -> ChatError? {
        self.locked {
            guard self.isReachable else { return ChatError(.unavailable, message: "not reachable") }
            guard self.accepts(access) else { return ChatError(.unauthorized, message: "token") }
            transport.user = access.split(separator: "/").first.flatMap { self.keys[UserName(prepared: String($0))] }
            self.connections.append(transport)
            return nil
        }
    }

    /// Whether the server accepts an access token. The caller holds the lock.
    func accepts(_ access: String) -> Bool { !self.isRevoked && access.hasSuffix("/\(self.token)") }

    func remove(_ transport: FakeTransport) { self.locked { self.connections.removeAll { $0 === transport } } }

    /// Returns the answer to a request, after the pushes that it causes are delivered.
    ///
    /// - Throws: `notConnected` if the connection is closed or the answer is to be lost.
    func answer(_ verb: String, _ payload: JSONValue, on transport: FakeTransport) throws(ChatClientError) -> JSONValue {
        let (answer, pushes, isLost) = self.locked { () -> (JSONValue?, [Push], Bool) in
            guard self.connections.contains(where: { $0 === transport }), let user = transport.user else { return (nil, [], false) }
            self.requests[verb, default: 0] += 1
            self.payloads[verb, default: []].append(payload)
            let isLost = self.scripts.loses(verb)
            if let answer = self.scripts.next(verb) { return (answer, [], isLost) }
            let (answer, pushes) = self.decide(verb, payload, by: user)
            guard !isLost, verb != "hello", self.answersToLose > 0 else { return (answer, pushes, isLost) }
            self.answersToLose -= 1
            return (answer, pushes, true)
        }
        if isLost {
            self.remove(transport)
            transport.lost()
        }
        self.deliver(pushes)
        guard let answer, !isLost else { throw ChatClientError(.notConnected, message: "lost") }
        return answer
    }

    private func deliver(_ pushes: [Push]) {
        for push in pushes {
            let messages = self.locked { () -> [(FakeTransport, String, JSONValue)] in
                guard self.pushesToLose == 0 else {
                    self.pushesToLose -= 1
                    return []
                }
                let messages = self.connections.flatMap { self.messages(of: push, to: $0) }
                return self.repeatsPushes ? messages + messages : messages
            }
            for (transport, name, payload) in messages { transport.push(name, payload) }
        }
    }

    // MARK: Decisions (locked)

    func nextKey() -> Int64 {
        self.lastKey += 1
        return self.lastKey
    }

    func command(_ actor: UserKey, _ action: Command.Action, id: String) -> Command {
        let identity = ClientID(id).map { RequestIdentity(id: $0, hash: RequestHash(1, 0, 0, 0)) }
        return Command(actor: actor, device: DeviceKey(actor.rawValue), request: identity, action: action)
    }

    func run(_ command: Command) -> (decision: Decision, pushes: [Push]) {
        self.now += 1
        var needs = Needs()
        command.addNeeds(to: &needs)
        do {
            var decider = BatchDecider(facts: try self.storage.begin(needs), at: self.now)
            let decision = decider.decide(command)
            let batch = decider.finish()
            _ = try self.storage.commit(batch.changes)
            return (decision, batch.pushes + self.endCalls(batch))
        } catch {
            return (.refused(ChatError(.internal, message: "\(error)")), [])
        }
    }

    /// Ends the calls that their last device has left. Returns the pushes.
    private func endCalls(_ batch: DecidedBatch) -> [Push] {
        self.callWatch.committed(batch.calls, deleted: batch.deleted, at: self.now).flatMap { action in
            guard case .report(let call, let state) = action else { return [Push]() }
            return self.run(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .updateCall(call, state))).pushes
        }
    }

    private func decide(_ verb: String, _ payload: JSONValue, by user: UserKey) -> (JSONValue, [Push]) {
        do throws(WireError) {
            switch verb {
            case "hello":
                let request = try HelloRequest(json: payload)
                let token = PageToken("epoch\(self.epoch)") ?? Value.token("e")
                var answer = HelloAnswer(
                    epoch: token, at: self.now, user: ChatUser(name: self.names[user] ?? Value.alice), device: DeviceID(number: 1),
                    own: ConversationID(number: 1))
                answer.limits = self.limits
                if request.epoch == token || request.epoch == nil { answer.sync = self.sync(of: user) }
                return (answer.json, [])
            case "sync": return (self.sync(of: user).json, [])
            case "history": return (self.history(try HistoryRequest(json: payload), of: user).json, [])
            case "send":
                let request = try SendRequest(json: payload)
                guard self.sendsToForget == 0 else {
                    self.sendsToForget -= 1
                    return (SendAnswer(conversation: request.conversation, id: request.id, seq: 100, n: 100, at: self.now).json, [])
                }
                let content = MessageContent(kind: request.kind, body: Self.text(request.body))
                let send = SendCommand(
                    conversation: ConversationKey(request.conversation.number), content: .success(content), ref: request.ref ?? 0,
                    thread: request.thread ?? 0)
                let (decision, pushes) = self.run(self.command(user, .send(send), id: request.id.rawValue))
                return (
                    self.json(decision) { SendAnswer(conversation: request.conversation, id: request.id, seq: $0.seq, n: $0.n, at: $0.at) },
                    pushes
                )
            case "mark":
                let request = try MarkRequest(json: payload)
                guard let read = request.read else {
                    return (MarkAnswer(conversation: request.conversation, read: 0, unread: 0, mentions: 0, n: 0).json, [])
                }
                let key = ConversationKey(request.conversation.number)
                let (decision, pushes) = self.run(
                    Command(
                        actor: user, device: DeviceKey(user.rawValue), request: nil,
                        action: .mark(MarkCommand(conversation: key, read: read))))
                let head = self.storage.head(of: user, in: key)
                let answer = self.json(decision) {
                    MarkAnswer(
                        conversation: request.conversation, read: $0.n, unread: head?.unread ?? 0, mentions: 0,
                        n: head?.conversation.counters.lastN ?? 0)
                }
                return (answer, pushes)
            case "edit":
                let request = try EditRequest(json: payload)
                let content = MessageContent(kind: .text, body: Self.text(request.body))
                return self.change(request.id, .edit(self.address(request.conversation, request.ref), .success(content)), by: user)
            case "recall":
                let request = try RecallRequest(json: payload)
                return self.change(request.id, .recall(self.address(request.conversation, request.ref)), by: user)
            case "react":
                let request = try ReactRequest(json: payload)
                let action = Command.Action.react(
                    self.address(request.conversation, request.ref), key: request.key, isOn: !request.isRemoval)
                return self.change(request.id, action, by: user)
            case "users":
                let names = try UsersRequest(json: payload).names
                return (UsersAnswer(users: names.map { ChatUser(name: $0, nick: $0.rawValue.uppercased()) }).json, [])
            case "draft":
                let request = try DraftRequest(json: payload)
                let key = ConversationKey(request.conversation.number)
                self.now += 1
                let draft = Draft(text: request.text, ref: request.ref, at: self.now)
                self.drafts[MemberAddress(key, user)] = request.text.isEmpty ? nil : draft
                let answer = ChangeAnswer(conversation: request.conversation, id: request.id, seq: nil, at: self.now)
                return (answer.json, [.head(key, of: user)])
            case "members":
                let query = try MembersRequest(json: payload).query ?? ""
                let names = self.names.values.filter { $0.rawValue.hasPrefix(query) }.sorted()
                let members = names.map { ChatMember(user: ChatUser(name: $0), role: .member, since: 1, read: self.reads[$0]) }
                return (MembersAnswer(members: members, version: 1, total: Int64(members.count)).json, [])
            case "contacts": return (ContactsAnswer(contacts: self.contacts).json, [])
            case "schedule":
                let request = try ScheduleRequest(json: payload)
                let message = ScheduledMessage(
                    id: request.id, conversation: request.conversation, kind: request.kind, body: request.body, ref: request.ref,
                    thread: request.thread, isSilent: request.isSilent, sendAt: request.sendAt)
                self.scheduled.append(message)
                return (ScheduleAnswer(scheduled: message).json, [])
            case "subscribe", "typing": return (WireEmpty().json, [])
            default: return try self.decideCall(verb, payload, by: user)
            }
        } catch {
            return (ChatError(error).json, [])
        }
    }

    func change(_ id: ClientID, _ action: Command.Action, by user: UserKey) -> (JSONValue, [Push]) {
        let (decision, pushes) = self.run(self.command(user, action, id: id.rawValue))
        let json = self.json(decision) {
            ChangeAnswer(
                conversation: ConversationID(number: $0.conversation.rawValue), id: id, seq: $0.seq > 0 ? $0.seq : nil, at: $0.at)
        }
        return (json, pushes)
    }

    func address(_ conversation: ConversationID, _ seq: Int64) -> EventAddress {
        EventAddress(ConversationKey(conversation.number), seq)
    }

    func json(_ decision: Decision, _ answer: (StoredAnswer) -> some WireObject) -> JSONValue {
        switch decision {
        case .accepted(let stored), .repeated(let stored): answer(stored).json
        case .refused(let error): error.json
        }
    }

    private static func text(_ body: JSONObject) -> String { (try? JSONValue.object(body).jsonString()) ?? "{}" }

    // MARK: HTTP

    func post(_ path: String, _ payload: JSONValue) throws(ChatClientError) -> JSONValue {
        let answer = self.locked { () -> JSONValue? in
            guard self.isReachable else { return nil }
            switch path {
            case "/api/login", "/api/register":
                let name = UserName(prepared: payload["name"]?.stringValue ?? "")
                guard self.keys[name] != nil else { return ChatError(.unauthorized, message: "no such user").json }
                return self.session(name)
            case "/api/refresh":
                self.refreshes += 1
                guard !self.isRevoked, let name = payload["refresh"]?.stringValue?.split(separator: "/").first else {
                    return ChatError(.unauthorized, message: "revoked").json
                }
                return self.session(UserName(prepared: String(name)))
            case "/api/logout":
                self.logouts.append(payload["refresh"]?.stringValue ?? "")
                return WireEmpty().json
            default: return ChatError(.notFound, message: path).json
            }
        }
        guard let answer else { throw ChatClientError(.unreachable, message: "not reachable") }
        return answer
    }

    private func session(_ name: UserName) -> JSONValue {
        SessionAnswer(
            user: ChatUser(name: name), device: DeviceID(number: 1), access: "\(name)/\(self.token)", accessExpiresAt: .max >> 11,
            refresh: "\(name)/r\(self.refreshes)"
        ).json
    }
}
