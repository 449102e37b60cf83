import ApusChatClient
import Foundation

/// Reads a password from a file, or from the terminal without echo. A command-line argument would
/// be visible to other users.
enum ChatPassword {
    static func read(file: String?, for user: String, confirm: Bool) throws -> String {
        if let file { return try self.read(file: file) }
        guard isatty(STDIN_FILENO) == 1 else {
            throw ChatClientError(.invalidUse, message: "there is no terminal to enter the password; use --password-file")
        }
        let password = try self.ask("Password for \(user): ")
        if confirm {
            guard try self.ask("Repeat the password: ") == password else {
                throw ChatClientError(.invalidUse, message: "the two passwords differ; try again")
            }
        }
        return password
    }

    private static func read(file: String) throws -> String {
        // Only the first line has to be text.
        guard let line = FileManager.default.contents(atPath: file)?.prefix(while: { $0 != 0x0A && $0 != 0x0D }),
            let password = String(data: line, encoding: .utf8)
        else {
            throw ChatClientError(.notFound, message: "cannot read the password file \(file)")
        }
        guard !password.isEmpty else { throw ChatClientError(.invalidUse, message: "the first line of \(file) is empty") }
        return password
    }

    private static func ask(_ prompt: String) throws -> String {
        ChatOutput.standard.raw(prompt)
        var terminal = termios()
        guard tcgetattr(STDIN_FILENO, &terminal) == 0 else {
            throw ChatClientError(.invalidUse, message: "the terminal cannot hide the password; use --password-file")
        }
        var silent = terminal
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal)
            ChatOutput.standard.raw("\n")
        }
        guard let line = readLine(strippingNewline: true), !line.isEmpty else {
            throw ChatClientError(.invalidUse, message: "no password was entered")
        }
        return line
    }
}
