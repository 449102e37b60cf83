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

            Lines from a pipe are treated like typed lines. At the end of the input, the command waits until all messages are sent.

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

    @Option(help: ArgumentHelp("The file of the store. Default: ~/.local/share/apus/HOST-PORT-NAME.sqlite.", valueName: "path"))
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
        configuration.tls = try self.tlsOptions.settings()
        let path = try self.store ?? ChatStorePath.standard(server: self.server, user: self.user)
        let session = try await self.session(path: path, configuration: configuration)
        let client = try await ChatClient.open(
            server: self.server, store: path, session: session, configuration: configuration,
            logger: Logger(label: "apus.chat", factory: { _ in SwiftLogNoOpLogHandler() }))
        let loop = await ChatLoop(client: client, output: .standard, wait: .seconds(self.wait))
        let result = await loop.run(opening: self.open)
        await client.close()
        if let failure = result { throw failure }
    }

    private func session(path: String, configuration: ChatClientConfiguration) async throws -> ChatSession {
        if !self.register, let session = try ChatClient.storedSession(store: path), session.user.name.lowercased() == self.user.lowercased()
        {
            return session
        }
        let password = try ChatPassword.read(file: self.passwordFile, for: self.user, confirm: self.register)
        if self.register {
            return try await ChatClient.register(server: self.server, name: self.user, password: password, configuration: configuration)
        }
        return try await ChatClient.login(server: self.server, name: self.user, password: password, configuration: configuration)
    }
}
