import ApusChatClient
import ApusChatProtocol
import ApusCommandSupport
import ApusConnectivity
import ApusEventLoop
import ArgumentParser
import Foundation
import Logging

/// The options of `apus chat` and its subcommands for the account, its store and its credentials.
struct ChatOptions: ParsableArguments {
    @Option(help: "The server's address, for example http://127.0.0.1:3000. Default: the server of the last account.")
    var server: String?

    @Option(help: "Your user name. Default: the name of the last account.")
    var user: String?

    @Option(help: ArgumentHelp("A file whose first line is the password. Default: enter it at the terminal.", valueName: "path"))
    var passwordFile: String?

    @Option(help: ArgumentHelp("The code of an authenticator or a recovery code, if the account requires one.", valueName: "code"))
    var code: String?

    @Option(help: ArgumentHelp("The folder of the store. Default: ~/.local/share/apus/HOST-PORT-NAME.", valueName: "path"))
    var store: String?

    @Option(help: ArgumentHelp("The time to wait for the server at the start, and for unsent messages at the end.", valueName: "seconds"))
    var wait: Int = 10

    @OptionGroup var tlsOptions: TLSOptions

    func validate() throws {
        guard self.wait >= 0, self.wait <= 86_400 else { throw ValidationError("--wait must be from 0 to 86400 seconds, not \(self.wait)") }
    }

    /// Returns the server, the user and the folder of the store. Omitted options default to the
    /// values of the last account.
    func account() throws -> (server: String, user: String, store: String) {
        if let server, let user {
            return (server, user, try self.store ?? ChatStorePath.standard(server: server, user: user))
        }
        let last = try self.store.map { try ChatAccounts(folder: $0).current.map { ($0.server, $0.user.rawValue) } } ?? ChatStorePath.last()
        guard let server = self.server ?? last?.0, let user = self.user ?? last?.1 else {
            throw ValidationError("no account has been used yet; specify it with --server and --user")
        }
        return (server, user, try self.store ?? ChatStorePath.standard(server: server, user: user))
    }

    func accounts(_ store: String) throws -> ChatAccounts {
        var configuration = ChatClientConfiguration()
        configuration.deviceName = "apus chat"
        configuration.tls = try self.tlsOptions.settings()
        return try ChatAccounts(
            folder: store, configuration: configuration, logger: Logger(label: "apus.chat", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    /// Opens the stored session, or creates a session with the password.
    ///
    /// - Returns: The accounts, the client, and the state of the connection after at most the time
    ///   to wait.
    func open(
        registering: (isOn: Bool, invitation: String?) = (false, nil)
    ) async throws -> (accounts: ChatAccounts, client: ChatClient, state: ChatConnectionState) {
        let (server, user, store) = try self.account()
        let accounts = try self.accounts(store)
        var client: ChatClient
        var state: ChatConnectionState?
        if !registering.isOn, let account = try accounts.account(server: server, user: user) {
            client = try await accounts.open(account)
            state = await client.firstState(within: .seconds(self.wait))
            if case .signedOut? = state, self.passwordFile != nil || isatty(STDIN_FILENO) == 1 {
                // The store contains unsent messages, which a new session sends.
                ChatOutput.standard.line("The server has ended the session; sign in again.")
                await client.close()
                client = try await self.begin(accounts, server, user, registering)
                state = nil
            }
        } else {
            client = try await self.begin(accounts, server, user, registering)
        }
        if state == nil { state = await client.firstState(within: .seconds(self.wait)) }
        if self.store == nil { ChatStorePath.remember(server: client.server, user: client.user.rawValue) }
        return (accounts, client, state ?? .connecting)
    }

    private func begin(
        _ accounts: ChatAccounts, _ server: String, _ user: String, _ registering: (isOn: Bool, invitation: String?)
    ) async throws -> ChatClient {
        let password = try ChatPassword.read(file: self.passwordFile, for: user, confirm: registering.isOn)
        guard registering.isOn else {
            do {
                return try await accounts.signIn(server: server, name: user, password: password, code: self.code)
            } catch {
                guard error.serverError?.field == "code", self.code == nil, let code = Self.askCode() else { throw error }
                return try await accounts.signIn(server: server, name: user, password: password, code: code)
            }
        }
        let (client, recovery) = try await accounts.signUp(
            server: server, name: user, password: password, invitation: registering.invitation)
        if !recovery.isEmpty {
            ChatOutput.standard.show(recovery: recovery)
            // Otherwise the full-screen mode would hide the codes.
            if self.passwordFile == nil, isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 {
                ChatOutput.standard.raw("Press Enter to continue.")
                _ = readLine()
            }
        }
        return client
    }

    /// Reads the code of an authenticator from the terminal. Returns nil without a terminal, or if
    /// no code is entered.
    private static func askCode() -> String? {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { return nil }
        ChatOutput.standard.raw("Code of the authenticator, or a recovery code: ")
        let code = readLine()?.trimmingCharacters(in: .whitespaces) ?? ""
        return code.isEmpty ? nil : code
    }

    /// Runs a command, and converts its errors to messages and exit codes.
    func reporting(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as ChatClientError {
            ChatOutput.standard.error(ChatFailure.advice(for: error, user: self.user ?? (try? self.account().user) ?? ""))
            throw ExitCode(ChatFailure.exitCode(for: error))
        }
    }

    /// Opens the client, runs a command and closes the client.
    func withClient(_ body: (ChatAccounts, ChatClient, ChatConnectionState) async throws -> Void) async throws {
        try await self.reporting {
            let (accounts, client, state) = try await self.open()
            if case .signedOut(let error) = state {
                await client.close()
                throw ChatClientError(.signedOut, message: "the server has ended this session: \(error.message)")
            }
            do {
                try await body(accounts, client, state)
            } catch {
                await client.close()
                throw error
            }
            await client.close()
        }
    }
}

extension ChatClient {
    /// Waits until the client is connected or signed out.
    /// - Returns: The state; nil if the timeout elapses first.
    func firstState(within wait: Duration) async -> ChatConnectionState? {
        let updates = self.updates(bufferingPolicy: .unbounded)
        switch await self.state {
        case .online, .signedOut, .closed: return await self.state
        case .connecting, .syncing: break
        }
        return await withTaskGroup(of: ChatConnectionState?.self) { group in
            group.addTask {
                for await case .connection(let state) in updates {
                    switch state {
                    case .online, .signedOut, .closed: return state
                    case .connecting, .syncing: continue
                    }
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: wait)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }

    /// The number of messages that wait for the server. Refused messages are not counted.
    var unsentCount: Int {
        get async {
            let unsent = (try? await self.unsent) ?? []
            return unsent.count { message in if case .failed = message.delivery { false } else { true } }
        }
    }
}
