import ApusChatServer
import ApusCommandSupport
import ArgumentParser
import Logging

/// Runs the chat server with its page, for the tests of link previews in `Conformance/browser`.
struct ChatHost: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "chat", abstract: "Run the chat server with its page.")

    @Option(help: "The port; 0 selects a free one.") var port = 0
    @Option(help: "The data folder.") var folder: String
    @Option(help: "The folder of the page.") var page: String?
    @Flag(help: "Disable all rate limits.") var withoutLimits = false
    @Flag(help: "Let searches find users by a part of their names.") var openDirectory = false
    @Flag(help: "Show the titles of linked pages.") var linkPreviews = false
    @Option(help: "A private network in which the server may request pages and push services; repeatable.") var outgoing: [String] = []

    func run() async throws {
        var configuration = ChatServerConfiguration(dataFolder: self.folder, port: self.port, tls: .off)
        configuration.pageFolder = self.page
        configuration.hasLimits = !self.withoutLimits
        configuration.directory = self.openDirectory ? .open : .exactNames
        configuration.previewsLinks = self.linkPreviews
        configuration.environment.outgoingNetworks = self.outgoing
        let server = ChatServer(configuration: configuration, logger: Logger(label: "chat"))
        try await server.run { addresses in
            print("listening on \(addresses.map(\.url).joined(separator: ", "))")
            flushStandardOutput()
        }
    }
}
