import ApusChatCore
public import ApusChatProtocol
import ApusJSON
import Foundation
public import Logging
import NIOConcurrencyHelpers

/// An account that is signed in on this device.
public struct ChatAccount: Hashable, Sendable, Identifiable {
    /// The server's address.
    public var server: String
    /// The account name.
    public var user: UserName
    /// The name of the SQLite file of the account in the folder of ``ChatAccounts``.
    var file: String

    /// The user and the server: `alice@https://chat.example.com`.
    public var id: String { "\(self.user)@\(self.server)" }
}

/// Manages the accounts of this device, in a folder with one store for each account.
///
/// Signing out removes the store immediately, even without a connection. If the server is not
/// reachable, a later ``finishSignOuts()`` notifies it.
///
/// Methods that contact a server throw `badAddress`, `unreachable`, `timeout` or `badAnswer` if
/// they receive no valid answer, and `refused` if the server refuses the request. Methods that
/// change local files throw `store` if they fail.
public final class ChatAccounts: Sendable {
    private struct Pending: Hashable { var server: String, refresh: String }
    private struct State {
        var accounts: [ChatAccount] = []
        var current: String?
        var signOuts: [Pending] = []
    }

    private let folder: URL
    private let network: ChatNetwork
    private let environment: ChatEnvironment
    private let configuration: ChatClientConfiguration
    private let logger: Logger
    private let state: NIOLockedValueBox<State>

    /// Opens a folder, or creates it with access for its owner only.
    ///
    /// - Parameters:
    ///   - folder: The path of the folder.
    ///   - configuration: The configuration of the clients that are opened.
    ///   - logger: The logger of the clients.
    /// - Throws: `invalidConfiguration` for an invalid configuration; `store` if the folder cannot
    ///   be created or its list of accounts is damaged.
    public convenience init(
        folder: String, configuration: ChatClientConfiguration = .init(), logger: Logger = Logger(label: "apus.chat.client")
    ) throws(ChatClientError) {
        try self.init(folder: folder, network: .live, environment: .live, configuration: configuration, logger: logger)
    }

    package init(
        folder: String, network: ChatNetwork, environment: ChatEnvironment, configuration: ChatClientConfiguration = .init(),
        logger: Logger = Logger(label: "apus.chat.client")
    ) throws(ChatClientError) {
        try configuration.validate()
        self.folder = URL(fileURLWithPath: folder, isDirectory: true)
        self.network = network
        self.environment = environment
        self.configuration = configuration
        self.logger = logger
        do {
            try FileManager.default.createDirectory(
                at: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ChatClientError(.store, message: "cannot create the folder \(folder): \(error.localizedDescription)")
        }
        self.state = NIOLockedValueBox(try Self.load(self.folder))
    }

    /// The accounts, in the order of their first sign-in.
    public var all: [ChatAccount] { self.state.withLockedValue(\.accounts) }

    /// The account that was opened last, if the user has not signed out of it, otherwise the first
    /// account; nil without accounts.
    public var current: ChatAccount? {
        self.state.withLockedValue { state in state.accounts.first { $0.id == state.current } ?? state.accounts.first }
    }

    /// Returns the account of a user; nil if the user has not signed in on this device.
    ///
    /// - Parameters:
    ///   - server: The address of the server.
    ///   - user: The account name.
    /// - Throws: `badAddress` or `invalidUse` if an argument is not valid.
    public func account(server: String, user: String) throws(ChatClientError) -> ChatAccount? {
        let server = try ChatHTTPClient.canonical(server)
        let name = try Self.name(user)
        return self.all.first { $0.server == server && $0.user == name }
    }

    // MARK: Sessions

    /// Creates an account on a server and opens it.
    ///
    /// - Parameters:
    ///   - server: The address of the server, for example `https://chat.example.com`.
    ///   - name: The account name.
    ///   - password: The password.
    ///   - nick: The shown name. Default: none.
    ///   - invitation: The code of an invitation, for a server that requires one. Default: none.
    /// - Returns: The client, and the recovery codes, which the user should write down.
    public func signUp(
        server: String, name: String, password: String, nick: String? = nil, invitation: String? = nil
    ) async throws(ChatClientError) -> (client: ChatClient, recovery: [String]) {
        let request = RegisterRequest(
            name: try Self.name(name), password: password, nick: nick, invitation: invitation, device: self.device)
        return try await self.begin(server, "/api/register", request.json)
    }

    /// Signs a user in and opens the account.
    ///
    /// - Parameters:
    ///   - server: The address of the server, for example `https://chat.example.com`.
    ///   - name: The account name.
    ///   - password: The password.
    ///   - code: A code of the authenticator or a recovery code, for an account with an
    ///     authenticator. Default: none.
    /// - Throws: `wrongCredentials` if the name, the password or the code is wrong; `refused` with
    ///   the field `code` if the account has an authenticator and there is no code.
    public func signIn(
        server: String, name: String, password: String, code: String? = nil
    ) async throws(ChatClientError) -> ChatClient {
        let request = LoginRequest(name: try Self.name(name), password: password, code: code, device: self.device)
        return try await self.begin(server, "/api/login", request.json).client
    }

    /// Sets a new password with a recovery code, and signs the user in.
    ///
    /// - Parameters:
    ///   - server: The address of the server.
    ///   - name: The account name.
    ///   - code: A recovery code of the account, or the code of an operator.
    ///   - newPassword: The new password.
    /// - Throws: `wrongCredentials` if the name or the code is wrong.
    public func recover(
        server: String, name: String, code: String, newPassword: String
    ) async throws(ChatClientError) -> ChatClient {
        let request = PasswordRequest(name: try Self.name(name), recovery: code, password: newPassword, device: self.device)
        return try await self.begin(server, "/api/password", request.json).client
    }

    private var device: HelloDevice { HelloDevice(name: self.configuration.deviceName, platform: self.configuration.platform) }

    private static func name(_ text: String) throws(ChatClientError) -> UserName {
        guard let name = UserName(text) else {
            throw ChatClientError(
                .invalidUse,
                message: "\"\(text)\" is not an account name; use 1 to 32 letters and digits, with `.`, `_` or `-` between them")
        }
        return name
    }

    private func begin(
        _ server: String, _ path: String, _ request: JSONValue
    ) async throws(ChatClientError) -> (client: ChatClient, recovery: [String]) {
        let server = try ChatHTTPClient.canonical(server)
        let http = try self.network.http(server, self.configuration)
        defer { http.shutdown() }
        let session: SessionAnswer
        do throws(ChatClientError) {
            session = try ChatAnswer.read(try await http.post(path, request, access: nil), as: SessionAnswer.self, verb: path)
        } catch {
            // The request has no session that could have ended.
            guard error.code == .signedOut else { throw error }
            let message = error.serverError?.message ?? "the server did not accept the name and the password"
            throw ChatClientError(.wrongCredentials, message: message, serverError: error.serverError, cause: error.cause)
        }
        let known = self.all.first { $0.server == server && $0.user == session.user.name }
        let account = known ?? ChatAccount(server: server, user: session.user.name, file: self.environment.makeID().rawValue + ".sqlite")
        let store = try ChatStore(path: self.path(of: account), now: self.environment.now)
        try store.save(
            StoredAccount(
                server: server, user: session.user.name, device: session.device, access: session.access,
                accessExpiresAt: session.accessExpiresAt, refresh: session.refresh))
        try self.change { state in
            if known == nil { state.accounts.append(account) }
            state.current = account.id
        }
        return (try await self.open(store), session.recovery)
    }

    /// Opens an account of this device. Only one client at a time may use the account.
    ///
    /// - Parameter account: One of ``all``.
    public func open(_ account: ChatAccount) async throws(ChatClientError) -> ChatClient {
        await self.finishSignOuts()
        let store = try ChatStore(path: self.path(of: account), now: self.environment.now)
        try self.change { $0.current = account.id }
        return try await self.open(store)
    }

    private func open(_ store: ChatStore) async throws(ChatClientError) -> ChatClient {
        try await ChatClient.open(
            store, network: self.network, configuration: self.configuration, environment: self.environment, logger: self.logger)
    }

    /// Ends the session of a client, closes the client, and removes its store with all messages in
    /// it.
    ///
    /// - Parameter client: A client that this object has opened.
    /// - Throws: `notFound` if the account of the client is not in the folder.
    public func signOut(_ client: ChatClient) async throws(ChatClientError) {
        guard let account = self.all.first(where: { $0.server == client.server && $0.user == client.user }) else {
            throw ChatClientError(.notFound, message: "\(client.user) at \(client.server) is not an account of this folder")
        }
        let refresh = await client.engine.tokens.refreshToken
        // The token is saved before the store is removed, because only the store contains it.
        try self.change { state in
            state.signOuts.append(Pending(server: account.server, refresh: refresh))
            state.accounts.removeAll { $0.id == account.id }
            if state.current == account.id { state.current = nil }
        }
        await client.close()
        try ChatStore.remove(path: self.path(of: account))
        await self.finishSignOuts()
    }

    /// Deletes the account of a client on the server, closes the client and removes its store.
    ///
    /// - Parameters:
    ///   - client: A client that this object has opened.
    ///   - password: The password, which confirms the deletion.
    /// - Throws: `wrongCredentials` if the password is wrong.
    public func delete(_ client: ChatClient, password: String) async throws(ChatClientError) {
        guard let account = self.all.first(where: { $0.server == client.server && $0.user == client.user }) else {
            throw ChatClientError(.notFound, message: "\(client.user) at \(client.server) is not an account of this folder")
        }
        try await client.deleteAccount(password: password)
        try self.change { state in
            state.accounts.removeAll { $0.id == account.id }
            if state.current == account.id { state.current = nil }
        }
        await client.close()
        try ChatStore.remove(path: self.path(of: account))
    }

    /// The number of ended sessions that were not reported to their servers yet.
    public var pendingSignOuts: Int { self.state.withLockedValue(\.signOuts.count) }

    /// Reports ended sessions to their servers. A session whose server is not reachable, or fails
    /// temporarily, is reported by the next call. ``open(_:)`` and ``signOut(_:)`` call this
    /// method.
    public func finishSignOuts() async {
        for pending in self.state.withLockedValue(\.signOuts) {
            guard let http = try? self.network.http(pending.server, self.configuration) else { continue }
            defer { http.shutdown() }
            do throws(ChatClientError) {
                let answer = try await http.post("/api/logout", LogoutRequest(refresh: pending.refresh).json, access: nil)
                _ = try ChatAnswer.read(answer, as: WireEmpty.self, verb: "logout")
            } catch {
                guard !error.asServerError.code.isTemporary else { continue }
            }
            try? self.change { state in state.signOuts.removeAll { $0 == pending } }
        }
    }

    // MARK: The file

    private func path(of account: ChatAccount) -> String { self.folder.appendingPathComponent(account.file).path }

    private static func file(_ folder: URL) -> URL { folder.appendingPathComponent("accounts.json") }

    /// Changes the state and stores it. Keeps the former state if the new one cannot be stored.
    private func change(_ body: (inout State) -> Void) throws(ChatClientError) {
        do {
            // The file is written under the lock, so that the last written file contains the last
            // change.
            try self.state.withLockedValue { state in
                var changed = state
                body(&changed)
                let file = Self.file(self.folder)
                try Data(try Self.json(changed).jsonString().utf8).write(to: file, options: .atomic)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
                state = changed
            }
        } catch {
            throw ChatClientError(.store, message: "cannot write \(Self.file(self.folder).path): \(error)")
        }
    }

    private static func json(_ state: State) -> JSONValue {
        let accounts = state.accounts.map { account -> JSONValue in
            ["server": .string(account.server), "user": .string(account.user.rawValue), "file": .string(account.file)]
        }
        let signOuts = state.signOuts.map { ["server": .string($0.server), "refresh": .string($0.refresh)] as JSONValue }
        return ["accounts": .array(accounts), "current": state.current.map { .string($0) } ?? .null, "sign_outs": .array(signOuts)]
    }

    private static func load(_ folder: URL) throws(ChatClientError) -> State {
        // A file that exists and cannot be read must not be replaced by an empty one.
        guard FileManager.default.fileExists(atPath: self.file(folder).path) else { return State() }
        let data: Data
        do { data = try Data(contentsOf: self.file(folder)) } catch {
            throw ChatClientError(.store, message: "cannot read \(self.file(folder).path): \(error.localizedDescription)")
        }
        guard let json = try? JSONReader.read(Array(data)) else {
            throw ChatClientError(.store, message: "\(self.file(folder).path) is damaged; remove it and sign in again")
        }
        var state = State()
        state.current = json["current"]?.stringValue
        for value in json["accounts"]?.arrayValue ?? [] {
            guard let server = value["server"]?.stringValue, let user = value["user"]?.stringValue.flatMap({ UserName($0) }),
                let file = value["file"]?.stringValue, !file.contains("/")
            else { continue }
            state.accounts.append(ChatAccount(server: server, user: user, file: file))
        }
        for value in json["sign_outs"]?.arrayValue ?? [] {
            guard let server = value["server"]?.stringValue, let refresh = value["refresh"]?.stringValue else { continue }
            state.signOuts.append(Pending(server: server, refresh: refresh))
        }
        return state
    }
}
