import ApusChatClient
import ApusChatProtocol
import ApusCommandSupport
import ApusConnectivity
import ArgumentParser
import Foundation
import Logging

/// `apus chat`: a chat client for the terminal.
struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Chat in the terminal.",
        discussion: """
            The history and unsent messages are kept in a store on this machine, so you can read and write without a connection. When the \
            server is reachable, also after a restart, the messages are sent automatically, each once and in order. The password is \
            required once; the store then contains the session.

            Lines from a pipe are treated like typed lines. At the end of the input, the command waits until all messages are sent. \
            /help lists the commands.

            Exit codes: 0 success; 64 invalid arguments or input; 66 a file cannot be read; 69 the server is unreachable; 74 the store \
            failed; 75 messages are stored but not sent yet; 77 the name or password was rejected.
            """
    )

    @Option(help: "The server's address, for example http://127.0.0.1:3000.")
    var server: String

    @Option(help: "Your user name.")
    var user: String

    @Option(help: ArgumentHelp("A file whose first line is the password. Default: enter it at the terminal.", valueName: "path"))
    var passwordFile: String?

    @Flag(help: "Create the account first.")
    var register = false

    @Option(help: ArgumentHelp("The invitation, with --register, if the server requires one.", valueName: "code"))
    var invitation: String?

    @Option(help: ArgumentHelp("The code of an authenticator or a recovery code, if the account requires one.", valueName: "code"))
    var code: String?

    @Option(help: ArgumentHelp("The folder of the store. Default: ~/.local/share/apus/HOST-PORT-NAME.", valueName: "path"))
    var store: String?

    @Option(help: ArgumentHelp("The conversation to open at the start: a user name or a group title.", valueName: "name"))
    var open: String?

    @Option(help: ArgumentHelp("The time to wait for the server at the start, and for unsent messages at the end.", valueName: "seconds"))
    var wait: Int = 10

    @OptionGroup var tlsOptions: TLSOptions

    func validate() throws {
        guard self.wait >= 0, self.wait <= 86_400 else { throw ValidationError("--wait must be from 0 to 86400 seconds") }
    }

    func run() async throws {
        do {
            try await self.chat()
        } catch let error as ChatClientError {
            ChatOutput.standard.error(ChatFailure.advice(for: error, user: self.user))
            throw ExitCode(ChatFailure.exitCode(for: error))
        }
    }

    private func chat() async throws {
        var configuration = ChatClientConfiguration()
        configuration.deviceName = "apus chat"
        configuration.tls = try self.tlsOptions.settings()
        let accounts = try ChatAccounts(
            folder: try self.store ?? ChatStorePath.standard(server: self.server, user: self.user), configuration: configuration,
            logger: Logger(label: "apus.chat", factory: { _ in SwiftLogNoOpLogHandler() }))
        var client: ChatClient
        var state: ChatConnectionState?
        if !self.register, let account = try accounts.account(server: self.server, user: self.user) {
            client = try await accounts.open(account)
            state = await ChatLoop.firstState(of: client, within: .seconds(self.wait))
            if case .signedOut? = state, self.passwordFile != nil || isatty(STDIN_FILENO) == 1 {
                // The store has unsent messages; a new session sends them.
                ChatOutput.standard.line("The server has ended the session; sign in again.")
                await client.close()
                client = try await self.begin(accounts)
                state = nil
            }
        } else {
            client = try await self.begin(accounts)
        }
        if state == nil { state = await ChatLoop.firstState(of: client, within: .seconds(self.wait)) }
        let loop = await ChatLoop(accounts: accounts, client: client, output: .standard, wait: .seconds(self.wait))
        let result = await loop.run(from: state ?? .connecting, opening: self.open)
        await client.close()
        if let failure = result { throw failure }
    }

    private func begin(_ accounts: ChatAccounts) async throws -> ChatClient {
        let password = try ChatPassword.read(file: self.passwordFile, for: self.user, confirm: self.register)
        guard self.register else {
            return try await accounts.signIn(server: self.server, name: self.user, password: password, code: self.code)
        }
        let (client, recovery) = try await accounts.signUp(
            server: self.server, name: self.user, password: password, invitation: self.invitation)
        if !recovery.isEmpty {
            ChatOutput.standard.line("Recovery codes, each for one new password. Write them down: \(recovery.joined(separator: " "))")
        }
        return client
    }
}
