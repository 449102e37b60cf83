import ApusChatClient
import ApusChatProtocol
import ApusConnectivity
import ArgumentParser
import Foundation
import Logging

/// `apus chat`: a chat in the terminal.
struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Chat in the terminal.",
        discussion: """
            Everything is kept in a store on this machine: the history can be read and messages can be written without a connection; they are \
            sent by themselves, in order and once, as soon as the server can be reached, also after a restart. The password is asked for once; \
            after that the store remembers the session.

            Lines from a pipe work like typed ones; at their end the command waits until everything is sent.

            Exit codes: 0 done; 64 wrong use; 66 a file is missing; 69 the server cannot be reached; 74 the store failed; 75 messages are stored \
            but not sent yet; 77 the name or password is not accepted.
            """
    )

    @Option(help: "The server's address, as http://127.0.0.1:3000.")
    var server: String

    @Option(help: "Your name.")
    var user: String

    @Option(help: ArgumentHelp("A file whose first line is the password (without it the password is asked for).", valueName: "path"))
    var passwordFile: String?

    @Flag(help: "Make the account first.")
    var register = false

    @Option(help: ArgumentHelp("The file to keep everything in (default: ~/.local/share/apus/HOST-NAME.sqlite).", valueName: "path"))
    var store: String?

    @Option(help: ArgumentHelp("Open this conversation at once: a person's name, or a group's title.", valueName: "name"))
    var open: String?

    @Option(help: ArgumentHelp("How long to wait for the server at the start, and for unsent messages at the end.", valueName: "seconds"))
    var wait: Int = 10

    @Flag(help: "Accept any certificate. For tests only: anyone on the way can read and change everything.")
    var insecureSkipVerification = false

    func validate() throws {
        guard self.wait >= 0, self.wait <= 86_400 else { throw ValidationError("--wait must be 0 to 86400 seconds") }
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
        if self.insecureSkipVerification { configuration.tls = .insecureSkipVerification }
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
