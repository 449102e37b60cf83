public import ApusChatProtocol
import ApusJSON
import Foundation
import Logging

/// A chat client for one user, with a local store that it keeps synchronized with the server.
///
/// ```swift
/// let session = try await ChatClient.login(server: "https://chat.example.com", name: "alice", password: password)
/// let chat = try await ChatClient.open(server: session.server, store: "alice.sqlite", session: session)
/// let bob = try await chat.conversation(with: "bobby")
/// try await bob.send("在吗？")
/// for await change in bob.changes { render(change) }
/// ```
///
/// Everything works offline except requests for new data from the server. The client stores a
/// message before `send` returns. It sends the message under the same id, in order, until the
/// server has stored it, across reconnects and restarts.
public final class ChatClient: Sendable {
    /// The session of the logged-in user.
    public let session: ChatSession

    let engine: ChatEngine
    private let store: ChatStore
    private let http: ChatHTTP
    /// The task that runs the engine until ``close()``.
    private let run: Task<Void, Never>

    // MARK: Accounts

    /// Creates an account. A name has 4 to 15 letters, digits or inner `_`; a password has at least
    /// 8 characters.
    public static func register(
        server: String, name: String, password: String, display: String? = nil, device: String? = nil,
        configuration: ChatClientConfiguration = .init()
    ) async throws(ChatClientError) -> ChatSession {
        try await ChatHTTP.with(server: server, configuration: configuration) { http throws(ChatClientError) in
            try await http.register(RegisterRequest(name: name, password: password, display: display, device: device))
        }
    }

    /// Logs in. Each login creates a device with its own token.
    public static func login(
        server: String, name: String, password: String, device: String? = nil, configuration: ChatClientConfiguration = .init()
    ) async throws(ChatClientError) -> ChatSession {
        try await ChatHTTP.with(server: server, configuration: configuration) { http throws(ChatClientError) in
            try await http.login(LoginRequest(name: name, password: password, device: device))
        }
    }

    /// Returns the session that a store was last opened with; `nil` for a new store or after a
    /// logout.
    public static func storedSession(store path: String) throws(ChatClientError) -> ChatSession? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let store = try ChatStore(path: path)
        defer { store.close() }
        guard let session = try store.session(), !session.token.isEmpty else { return nil }
        return session
    }

    // MARK: Opening and closing

    /// Opens the store and runs the engine over a transport.
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

    /// Disconnects and closes the store. Unsent messages are sent after the store is opened again.
    public func close() async {
        await self.engine.stop()
        self.run.cancel()
        await self.run.value
        self.store.close()
        self.http.shutdown()
    }

    /// Ends this device's session on the server, then closes the client. The history remains in the
    /// store.
    public func logout() async throws(ChatClientError) {
        try await self.http.logout()
        try? self.store.forgetToken()
        await self.close()
    }

    // MARK: Reading

    /// The state of the connection.
    public var state: ChatConnectionState {
        get async { await self.engine.currentState() }
    }

    /// The number of outgoing messages that the server has not acknowledged.
    public var unsentCount: Int {
        get async { await self.engine.unsentCount() }
    }

    /// All changes from now on. Each access returns a new stream. Subscribe before reading the
    /// history so that no change is missed.
    public var changes: AsyncStream<ChatChange> { self.engine.broadcaster.subscribe() }

    /// The conversations, in descending order of their newest message.
    public var conversations: [ChatConversationInfo] {
        get async throws(ChatClientError) { try await self.engine.conversations() }
    }

    /// Returns a conversation by its id.
    public func conversation(_ id: ConversationID) async throws(ChatClientError) -> ChatConversation {
        _ = try await self.engine.conversation(id)
        return ChatConversation(id: id, engine: self.engine)
    }

    /// Returns the conversation with a user, by name, and creates it if it does not exist. Known
    /// conversations are also available offline.
    public func conversation(with name: String) async throws(ChatClientError) -> ChatConversation {
        ChatConversation(id: try await self.engine.conversation(with: name), engine: self.engine)
    }

    /// Creates a group.
    public func createGroup(title: String, members: [UserID]) async throws(ChatClientError) -> ChatConversation {
        ChatConversation(id: try await self.engine.createGroup(title: title, members: members), engine: self.engine)
    }

    /// Searches users on the server, in pages of at most 50.
    ///
    /// - Parameters:
    ///   - query: Words that must each occur in the name or the display name. A word after `@` must
    ///     occur in the name. Case and character width are ignored.
    ///   - page: `next` of the previous page; `nil` for the first page. The last page has no
    ///     `next`.
    public func users(matching query: String? = nil, after page: String? = nil) async throws(ChatClientError) -> UsersReply {
        try await self.engine.users(matching: query, after: page)
    }

    /// Returns a user known from a shared conversation, with presence.
    public func user(_ id: UserID) async -> ChatUser? { await self.engine.user(id) }

    /// Downloads a picture of one of the conversations.
    public func download(_ blob: BlobID) async throws(ChatClientError) -> [UInt8] { try await self.engine.download(blob) }
}

extension ChatEngine.Environment {
    /// The system's clock, sleep and identifiers.
    static let live = ChatEngine.Environment(
        now: { Int64((Date().timeIntervalSince1970 * 1_000).rounded()) },
        sleep: { try await Task.sleep(for: $0) },
        makeID: { ClientID(unchecked: UUID().uuidString.lowercased()) }
    )
}
