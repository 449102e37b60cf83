import ApusChatServer
import ApusCommandSupport
import ArgumentParser
import Logging

/// Serves the new chat with its page, for the tests in `Conformance/` and for `Benchmarks/chat`.
struct ChatHost: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "chat", abstract: "Serve the new chat with its page.")

    @Option(help: "The port; 0 selects a free one.") var port = 0
    @Option(help: "The data folder.") var folder: String
    @Option(help: "The folder of the page.") var page: String?
    @Flag(help: "Turn off all budgets.") var withoutLimits = false
    @Flag(help: "Find users by any part of their names.") var openDirectory = false

    func run() async throws {
        var configuration = ChatServerConfiguration(dataFolder: self.folder, port: self.port, tls: .off)
        configuration.pageFolder = self.page
        configuration.hasLimits = !self.withoutLimits
        configuration.directory = self.openDirectory ? .open : .exactNames
        let server = ChatServer(configuration: configuration, logger: Logger(label: "chat"))
        try await server.run { addresses in
            print("listening on \(addresses.map(\.url).joined(separator: ", "))")
            flushStandardOutput()
        }
    }
}
