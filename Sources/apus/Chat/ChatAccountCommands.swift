import ApusChatClient
import ApusChatProtocol
import ArgumentParser

/// `apus chat password`: changes the password.
struct ChatPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password", abstract: "Change the password, which ends the sessions of all other devices.")

    @OptionGroup var options: ChatOptions

    @Option(help: ArgumentHelp("A file whose first line is the new password. Default: enter it at the terminal.", valueName: "path"))
    var newPasswordFile: String?

    func run() async throws {
        try await self.options.withClient { accounts, client, state in
            let user = client.user.rawValue
            let old = try ChatPassword.read(file: self.options.passwordFile, for: user, confirm: false)
            let new = try ChatPassword.read(file: self.newPasswordFile, for: "\(user), the new one", confirm: true)
            try await client.changePassword(from: old, to: new)
            ChatOutput.standard.line("The password is changed; all other devices are signed out.")
        }
    }
}

/// `apus chat authenticator`: turns the second factor on and off.
struct ChatAuthenticatorCommand: AsyncParsableCommand {
    enum Change: String, ExpressibleByArgument, CaseIterable {
        case on, off, recovery
    }

    static let configuration = CommandConfiguration(
        commandName: "authenticator",
        abstract: "Turn the codes of an authenticator on or off, or make new recovery codes.",
        discussion: "With \"on\", the secret is printed; the code that the authenticator shows is read from standard input.")

    @OptionGroup var options: ChatOptions

    @Argument(help: "on, off or recovery.")
    var change: Change

    func run() async throws {
        try await self.options.withClient { accounts, client, state in
            let output = ChatOutput.standard
            let password = try ChatPassword.read(file: self.options.passwordFile, for: client.user.rawValue, confirm: false)
            switch self.change {
            case .on:
                let secret = try await client.makeAuthenticator(password: password)
                output.line("Secret: \(secret.secret)")
                output.line("URI: \(secret.uri)")
                output.raw("Code of the authenticator: ")
                guard let code = readLine(strippingNewline: true)?.filter({ !$0.isWhitespace }), !code.isEmpty else {
                    throw ChatClientError(.badInput, message: "no code was given; the authenticator is not on")
                }
                try await client.confirmAuthenticator(code: code)
                output.line("A sign-in needs a code now.")
                let codes = try await client.makeRecoveryCodes(password: password)
                output.line("Recovery codes, each for one use. Write them down: \(codes.joined(separator: " "))")
            case .off:
                try await client.removeAuthenticator(password: password)
                output.line("A sign-in needs no code now.")
            case .recovery:
                let codes = try await client.makeRecoveryCodes(password: password)
                output.line("Recovery codes, each for one use. Write them down: \(codes.joined(separator: " "))")
            }
        }
    }
}
