import ApusChatCore
public import ApusChatProtocol
public import ApusEventLoop
import Logging

/// A chat client of one account, with a local store that it keeps synchronized with the server.
///
/// ```swift
/// let accounts = try ChatAccounts(folder: folder)
/// let chat = try await accounts.signIn(server: "https://chat.example.com", name: "alice", password: password)
/// let bob = try await chat.conversation(with: "bob")
/// try await bob.send("在吗？")
/// for await update in chat.updates(bufferingPolicy: .bufferingNewest(1_000)) { show(update) }
/// ```
///
/// Reading and writing work without a connection. A message is stored before `send` returns. It
/// keeps its id across reconnections and restarts, so that the server stores it only once.
///
/// Messages, drafts and read positions are stored, and sent when there is a connection. All other
/// methods that make a request wait for a connection for at most
/// ``ChatClientConfiguration/changePatience``; a request whose answer is lost is repeated with the
/// same id. They throw `notConnected` without a connection, `timeout` without an answer, and
/// `cancelled` if the task is cancelled. Depending on the answer of the server, they throw
/// `refused`, `notFound` or `signedOut`. Methods that change the password, the authenticator or a
/// picture do not wait: they throw `unreachable` without a connection.
public final class ChatClient: Sendable {
    /// The account name of the user.
    public let user: UserName
    /// The server's address.
    public let server: String

    let engine: ChatEngine
    let store: ChatStore
    private let run: Task<Void, Never>

    /// Opens a store and starts the engine. Returns immediately, even without a connection.
    static func open(
        _ store: ChatStore, network: ChatNetwork, configuration: ChatClientConfiguration, environment: ChatEnvironment, logger: Logger
    ) async throws(ChatClientError) -> ChatClient {
        guard let account = try store.account() else {
            throw ChatClientError(.signedOut, message: "the store has no account; sign in first")
        }
        let http = try network.http(account.server, configuration)
        let tokens = SessionTokens(account, http: http, now: environment.now) { account throws(ChatClientError) in
            try store.save(account)
        }
        let transport = network.transport(account.server, tokens, configuration, logger)
        let engine = ChatEngine(
            store: store, transport: transport, http: http, tokens: tokens, me: account.user, configuration: configuration,
            environment: environment, logger: logger)
        try await engine.restore()
        return ChatClient(account: account, engine: engine, store: store)
    }

    private init(account: StoredAccount, engine: ChatEngine, store: ChatStore) {
        self.user = account.user
        self.server = account.server
        self.engine = engine
        self.store = store
        self.run = Task { await engine.run() }
    }

    /// Disconnects and closes the store. Unsent messages are sent after the store is opened again.
    public func close() async {
        await self.engine.stop()
        self.run.cancel()
        await self.run.value
        self.engine.http.shutdown()
        self.store.close()
    }

    // MARK: Updates

    /// The state of the connection.
    public var state: ChatConnectionState {
        get async { await self.engine.state }
    }

    /// Returns a new stream of the future updates. Subscribe before you read the store, so that no
    /// update is missed.
    ///
    /// - Parameter policy: The policy that selects the updates to drop for a slow reader;
    ///   `.unbounded` drops none. ``ChatUpdate/missed`` reports dropped updates.
    public func updates(bufferingPolicy policy: BufferingPolicy) -> EventStream<ChatUpdate> {
        self.engine.broadcaster.subscribe(bufferingPolicy: policy)
    }

    /// Calls a closure for each update, on a queue of the client, until the returned observation is
    /// cancelled or released.
    ///
    /// - Parameter body: The closure. It must not block.
    public func observe(_ body: @escaping @Sendable (ChatUpdate) -> Void) -> ChatObservation {
        let broadcaster = self.engine.broadcaster
        let id = broadcaster.observe(body)
        return ChatObservation { [weak broadcaster] in broadcaster?.remove(id) }
    }

    // MARK: Conversations

    /// The stored conversations, unordered. ``ConversationListModel`` sorts them into sections.
    public var heads: [ChatHead] {
        get async { await Array(self.engine.core.heads.values) }
    }

    /// The number of unread messages in conversations that are neither muted nor archived.
    public var badge: Int64 {
        get async {
            let now = self.engine.environment.now()
            return await self.heads.filter { !$0.own.isArchived && $0.own.mutedUntil ?? 0 <= now }.reduce(0) { $0 + $1.unread }
        }
    }

    /// The messages that the server has not stored, of all conversations, in the order in which
    /// they were written.
    public var unsent: [ChatMessage] {
        get async throws(ChatClientError) { try await self.engine.unsent() }
    }

    /// Returns the conversation with an id. Makes no request.
    ///
    /// - Parameter id: The id.
    public func conversation(_ id: ConversationID) -> ChatConversation { ChatConversation(id: id, engine: self.engine) }

    /// The conversation with the user's notes; nil before the first connection.
    public var notes: ChatConversation? {
        get async {
            let known = await self.engine.core.heads.values.first { $0.kind == .own }?.conversation
            let id = if let known { known } else { await self.engine.own }
            return id.map { ChatConversation(id: $0, engine: self.engine) }
        }
    }

    /// Returns the conversation with another user, which is created if it does not exist. A stored
    /// conversation is returned without a request.
    ///
    /// - Parameter name: The account name of the other user.
    public func conversation(with name: String) async throws(ChatClientError) -> ChatConversation {
        guard let user = UserName(name) else {
            throw ChatClientError(
                .invalidUse,
                message: "\"\(name)\" is not an account name; use 1 to 32 letters and digits, with `.`, `_` or `-` between them")
        }
        if let known = await self.heads.first(where: { $0.kind == .pair && $0.peer?.name == user }) {
            return self.conversation(known.conversation)
        }
        let request = OpenRequest(id: self.engine.environment.makeID(), user: user)
        return await self.adopted(try await self.engine.askPatiently(ChatVerbs.conversationOpen, request).head)
    }

    /// Creates a group or a channel. Adds contacts as members and invites other users.
    ///
    /// - Parameters:
    ///   - kind: `group` or `channel`. Default: `group`.
    ///   - title: The title.
    ///   - about: The description. Default: none.
    ///   - users: The first members, in addition to the user.
    public func create(
        _ kind: ConversationKind = .group, title: String, about: String? = nil, users: [UserName] = []
    ) async throws(ChatClientError) -> ChatConversation {
        let request = CreateRequest(id: self.engine.environment.makeID(), kind: kind, title: title, about: about, users: users)
        return await self.adopted(try await self.engine.askPatiently(ChatVerbs.conversationCreate, request).head)
    }

    private func adopted(_ head: ChatHead) async -> ChatConversation { self.conversation(await self.engine.adopt(head)) }

    /// Joins the conversation of an invite link.
    ///
    /// - Parameter code: The code of the link.
    public func join(_ code: LinkCode) async throws(ChatClientError) -> ChatConversation {
        let request = MemberJoinRequest(id: self.engine.environment.makeID(), link: code)
        return await self.adopted(try await self.engine.askPatiently(ChatVerbs.memberJoin, request).head)
    }

    /// Joins a conversation that the directory lists.
    ///
    /// - Parameter conversation: The conversation.
    public func join(_ conversation: ConversationID) async throws(ChatClientError) -> ChatConversation {
        let request = MemberJoinRequest(id: self.engine.environment.makeID(), conversation: conversation)
        return await self.adopted(try await self.engine.askPatiently(ChatVerbs.memberJoin, request).head)
    }

    /// Returns the title, the kind, the picture, the number of members and the join rule of the
    /// conversation of an invite link, and the user who created the link.
    ///
    /// - Parameter code: The code of the link.
    public func info(of code: LinkCode) async throws(ChatClientError) -> LinkInfoAnswer {
        try await self.engine.askPatiently(ChatVerbs.linkInfo, LinkInfoRequest(code: code))
    }

    /// Returns a page of the groups and channels that the directory lists, newest first.
    ///
    /// - Parameters:
    ///   - query: A part of the title or description; nil for all.
    ///   - page: The token that the previous page returned; nil for the first page.
    public func directory(
        matching query: String? = nil, after page: PageToken? = nil
    ) async throws(ChatClientError) -> DirectoryPage {
        let answer = try await self.engine.askPatiently(ChatVerbs.directory, DirectoryRequest(query: query, page: page))
        return DirectoryPage(conversations: answer.conversations, next: answer.page)
    }

    // MARK: Scheduled messages

    /// Returns a page of the user's scheduled messages in all conversations, in the order of their
    /// times.
    ///
    /// - Parameter page: The token that the previous page returned; nil for the first page.
    public func scheduled(after page: PageToken? = nil) async throws(ChatClientError) -> ScheduledPage {
        let answer = try await self.engine.askPatiently(ChatVerbs.scheduled, ScheduledRequest(page: page))
        return ScheduledPage(messages: answer.scheduled, next: answer.page)
    }

    /// Removes a scheduled message, including one that the server could not send.
    ///
    /// - Parameter id: The id of the scheduled message.
    public func unschedule(_ id: ClientID) async throws(ChatClientError) {
        let request = UnscheduleRequest(id: self.engine.environment.makeID(), target: id)
        _ = try await self.engine.askPatiently(ChatVerbs.unschedule, request)
    }
}

/// Keeps the closure of ``ChatClient/observe(_:)`` registered until it is cancelled or released.
public final class ChatObservation: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    /// Ends the observation. The closure is not called again.
    public func cancel() { self.end() }
    deinit { self.end() }
}
