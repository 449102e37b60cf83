public import ApusChatProtocol
import ApusJSON
import Foundation
import Logging

/// A user's chat: stored on this device, kept in step with the server, sending by itself.
///
/// ```swift
/// let session = try await ChatClient.login(server: "https://chat.example.com", name: "alice", password: password)
/// let chat = try await ChatClient.open(server: session.server, store: "alice.sqlite", session: session)
/// let bob = try await chat.conversation(with: "bobby")
/// try await bob.send("在吗？")
/// for await change in bob.changes { render(change) }
/// ```
///
/// Everything but asking the server for something new works offline. A message is stored before `send` returns and sent again, under the same id
/// and in order, until the server has it: across reconnects and restarts.
public final class ChatClient: Sendable {
    /// Who is logged in.
    public let session: ChatSession

    let engine: ChatEngine
    private let store: ChatStore
    private let http: ChatHTTP
    /// The engine's life. Owned here; ends in ``close()``.
    private let run: Task<Void, Never>

    // MARK: Accounts

    /// Makes an account. Names have 4 to 15 letters, digits or `_` inside, passwords at least 8 characters.
    public static func register(
        server: String, name: String, password: String, display: String? = nil, device: String? = nil,
        configuration: ChatClientConfiguration = .init()
    ) async throws(ChatClientError) -> ChatSession {
        try await ChatHTTP.with(server: server, configuration: configuration) { http throws(ChatClientError) in
            try await http.register(RegisterRequest(name: name, password: password, display: display, device: device))
        }
    }

    /// Logs in. Each login is a device of its own, with a token of its own.
    public static func login(
        server: String, name: String, password: String, device: String? = nil, configuration: ChatClientConfiguration = .init()
    ) async throws(ChatClientError) -> ChatSession {
        try await ChatHTTP.with(server: server, configuration: configuration) { http throws(ChatClientError) in
            try await http.login(LoginRequest(name: name, password: password, device: device))
        }
    }

    /// The session a store was opened with last; `nil` for a new store or after a logout.
    public static func storedSession(store path: String) throws(ChatClientError) -> ChatSession? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let store = try ChatStore(path: path)
        defer { store.close() }
        guard let session = try store.session(), !session.token.isEmpty else { return nil }
        return session
    }

    // MARK: Life

    /// Opens the store and lets the engine run over a transport.
    static func open(
        store path: String, session: ChatSession, transport: any ChatTransport, configuration: ChatClientConfiguration, logger: Logger
    ) async throws(ChatClientError) -> ChatClient {
        let http = try ChatHTTP(server: session.server, configuration: configuration)
        http.setToken(session.token)
        do throws(ChatClientError) {
            let store = try ChatStore(path: path)
            try store.bind(to: session)
            let engine = ChatEngine(
                store: store, transport: transport, blobs: http, me: session.user.id, configuration: configuration, environment: .live,
                logger: logger)
            try await engine.restore()
            return ChatClient(session: session, store: store, http: http, engine: engine)
        } catch {
            http.shutdown()
            throw error
        }
    }

    private init(session: ChatSession, store: ChatStore, http: ChatHTTP, engine: ChatEngine) {
        self.session = session
        self.store = store
        self.http = http
        self.engine = engine
        self.run = Task { await engine.run() }
    }

    /// Leaves the server and closes the store. What was not sent yet is sent when the store is opened again.
    public func close() async {
        await self.engine.stop()
        self.run.cancel()
        await self.run.value
        self.store.close()
        self.http.shutdown()
    }

    /// Ends this device's session on the server, then closes. The history stays in the store.
    public func logout() async throws(ChatClientError) {
        try await self.http.logout()
        try? self.store.forgetToken()
        await self.close()
    }

    // MARK: Reading

    /// How the connection stands.
    public var state: ChatConnectionState {
        get async { await self.engine.currentState() }
    }

    /// Messages of ours the server does not have yet.
    public var unsentCount: Int {
        get async { await self.engine.unsentCount() }
    }

    /// What happens from now on, everywhere. Each call gives a stream of its own; subscribe before you read, and nothing is missed in between.
    public var changes: AsyncStream<ChatChange> { self.engine.broadcaster.subscribe() }

    /// The conversations, the one with the newest message first.
    public var conversations: [ChatConversationInfo] {
        get async throws(ChatClientError) { try await self.engine.conversations() }
    }

    /// A conversation known by its id.
    public func conversation(_ id: ConversationID) async throws(ChatClientError) -> ChatConversation {
        _ = try await self.engine.conversation(id)
        return ChatConversation(id: id, engine: self.engine)
    }

    /// The conversation with one person, by name; made when there is none. One that is known is found offline too.
    public func conversation(with name: String) async throws(ChatClientError) -> ChatConversation {
        ChatConversation(id: try await self.engine.conversation(with: name), engine: self.engine)
    }

    /// Makes a group.
    public func createGroup(title: String, members: [UserID]) async throws(ChatClientError) -> ChatConversation {
        ChatConversation(id: try await self.engine.createGroup(title: title, members: members), engine: self.engine)
    }

    /// Asks the server for users, one page of at most 50 at a time.
    ///
    /// - Parameters:
    ///   - query: Words that each occur in the name or the display name; after `@` in the name only. Case and width make no difference.
    ///   - page: `next` of the page before; `nil` for the first page. A page without `next` is the last one.
    public func users(matching query: String? = nil, after page: String? = nil) async throws(ChatClientError) -> UsersReply {
        try await self.engine.users(matching: query, after: page)
    }

    /// A person known from a shared conversation, with presence.
    public func user(_ id: UserID) async -> ChatUser? { await self.engine.user(id) }

    /// The bytes of a picture in one of the conversations.
    public func download(_ blob: BlobID) async throws(ChatClientError) -> [UInt8] { try await self.engine.download(blob) }
}

extension ChatEngine.Environment {
    /// The real clock.
    static let live = ChatEngine.Environment(
        now: { Int64((Date().timeIntervalSince1970 * 1_000).rounded()) },
        sleep: { try await Task.sleep(for: $0) },
        makeID: { ClientID(unchecked: UUID().uuidString.lowercased()) }
    )
}
