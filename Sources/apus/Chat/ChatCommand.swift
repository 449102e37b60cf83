import ApusChatClient
import ApusChatTerminal
import ArgumentParser
import Foundation

/// `apus chat`: a chat client for the terminal.
struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Chat in the terminal.",
        discussion: """
            On a terminal, a full screen shows the conversations, the messages and the input; F1 lists its keys and commands. Lines are \
            read instead with --lines, from a pipe, or if TERM is "dumb". Lines from a pipe are treated like typed lines. At the end of \
            the input, the command waits until all messages are sent.

            The history and unsent messages are stored on this machine, so you can read and write without a connection. When the \
            server is reachable, also after a restart, the messages are sent automatically, each once and in order. The password is \
            required once; the store then contains the session, and later commands need neither --server nor --user.

            The subcommands are for scripts: they print lines, or JSON with --json, and exit.

            Exit codes: 0 success; 64 invalid arguments or input; 66 a file cannot be read; 69 the server is unreachable; 74 the store \
            failed; 75 messages are stored but not sent yet; 77 the name or password was rejected.
            """,
        subcommands: [
            ChatSendCommand.self, ChatTailCommand.self, ChatListCommand.self, ChatHistoryCommand.self, ChatSearchCommand.self,
            ChatPasswordCommand.self, ChatAuthenticatorCommand.self, ChatExportCommand.self,
        ]
    )

    @OptionGroup var options: ChatOptions

    @Flag(help: "Create the account first.")
    var register = false

    @Option(help: ArgumentHelp("The invitation, with --register, if the server requires one.", valueName: "code"))
    var invitation: String?

    @Option(help: ArgumentHelp("The conversation to open at the start: a user name or a group title.", valueName: "name"))
    var open: String?

    @Flag(help: "Read and print lines instead of using the full screen.")
    var lines = false

    func run() async throws {
        try await self.options.reporting {
            let (accounts, client, state) = try await self.options.open(registering: (self.register, self.invitation))
            if !self.lines, ChatFullScreen.isPossible {
                try await ChatFullScreen.run(accounts: accounts, client: client, state: state, opening: self.open)
                return
            }
            let loop = await ChatLoop(accounts: accounts, client: client, output: .standard, wait: .seconds(self.options.wait))
            let result = await loop.run(from: state, opening: self.open)
            await client.close()
            if let failure = result { throw failure }
        }
    }
}
