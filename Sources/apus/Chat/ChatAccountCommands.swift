import ApusChatClient
import ApusChatProtocol
import ApusChatTerminal
import ArgumentParser

/// `apus chat password`: changes the password.
struct ChatPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Change the password. This ends the sessions of all other devices.")

    @OptionGroup var options: ChatOptions

    @Option(help: ArgumentHelp("A file whose first line is the new password. Default: enter it at the terminal.", valueName: "path"))
    var newPasswordFile: String?

    func run() async throws {
        try await self.options.withClient { accounts, client, state in
            let user = client.user.rawValue
            let old = try ChatPassword.read(file: self.options.passwordFile, for: user, confirm: false)
            let new = try ChatPassword.read(file: self.newPasswordFile, for: "\(user), the new one", confirm: true)
            try await client.changePassword(from: old, to: new)
            ChatOutput.standard.line("The password was changed, and all other devices were signed out.")
        }
    }
}

/// `apus chat authenticator`: turns the second factor on and off.
struct ChatAuthenticatorCommand: AsyncParsableCommand {
    enum Change: String, ExpressibleByArgument, CaseIterable {
        case on, off, recovery, status
    }

    static let configuration = CommandConfiguration(
        commandName: "authenticator",
        abstract: "Turn the codes of an authenticator on or off, create new recovery codes, or report whether sign-ins require a code.",
        discussion: "With \"on\", the secret is printed; the code that the authenticator shows is read from standard input.")

    @OptionGroup var options: ChatOptions

    @Argument(help: "on, off, recovery or status.")
    var change: Change

    func run() async throws {
        try await self.options.withClient { accounts, client, state in
            let output = ChatOutput.standard
            if self.change == .status {
                let isOn = try await client.hasAuthenticator()
                return output.line(isOn ? "Each sign-in requires a code." : "A sign-in requires no code.")
            }
            let password = try ChatPassword.read(file: self.options.passwordFile, for: client.user.rawValue, confirm: false)
            switch self.change {
            case .on:
                let secret = try await client.makeAuthenticator(password: password)
                output.line("Secret: \(secret.secret)")
                output.line("URI: \(secret.uri)")
                output.raw("Code of the authenticator: ")
                guard let code = readLine(strippingNewline: true)?.filter({ !$0.isWhitespace }), !code.isEmpty else {
                    throw ChatClientError(.invalidUse, message: "no code was entered; the authenticator is not turned on")
                }
                try await client.confirmAuthenticator(code: code)
                output.line("Each sign-in now requires a code.")
                let codes = try await client.makeRecoveryCodes(password: password)
                output.show(recovery: codes)
            case .off:
                try await client.removeAuthenticator(password: password)
                output.line("A sign-in no longer requires a code.")
            case .status: break
            case .recovery:
                let codes = try await client.makeRecoveryCodes(password: password)
                output.show(recovery: codes)
            }
        }
    }
}

/// `apus chat export`: writes the data of the account.
struct ChatExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the data of the account to a ZIP file.",
        discussion: "README.txt in the ZIP file describes the contents. The ZIP file must not exist yet.")

    @OptionGroup var options: ChatOptions

    @Argument(help: "The path of the new file.")
    var file: String

    func run() async throws {
        try await self.options.withClient { accounts, client, state in
            let path = try await ChatCommander(client: client, clock: .system).export(to: self.file)
            ChatOutput.standard.line("The data was written to \(path).")
        }
    }
}
