import ApusChatServer
import ApusCommandSupport
import ArgumentParser
import Foundation

/// `apus admin`: the commands for the operator of a chat server.
struct Admin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin", abstract: "Manage the accounts and the data of a chat server.",
        discussion: """
            Works on the data folder, whether or not a server is running. Lists have one row per line, with fields separated by tabs.

            \(Administration.help)
            """)

    @Option(help: "The data folder of the server.")
    var data = "./data"

    @Argument(help: ArgumentHelp("The command and its arguments.", valueName: "command"))
    var words: [String]

    func run() async throws {
        let text: String
        do {
            text = try await Administration.perform(self.words, in: self.data)
        } catch {
            throw Failure(message: Administration.message(of: error))
        }
        if !text.isEmpty { writeStandardOutput(Data((text + "\n").utf8)) }
    }
}

/// An error that is printed as one line, without the name of its type.
private struct Failure: Error, CustomStringConvertible {
    var message: String
    var description: String { self.message }
}
