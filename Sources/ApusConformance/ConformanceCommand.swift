import ApusCommandSupport
import ArgumentParser

/// The servers and clients that the tests in `Conformance/` and the scripts in `Benchmarks/` start.
@main struct ConformanceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ApusConformance", abstract: "Servers and clients for the conformance tests of Apus.",
        subcommands: [
            ConformanceServer.self, ConformanceClient.self, ConformanceClients.self, ProtocolSuiteCommand.self, AutobahnClient.self,
            TransferBench.self, ChatRoutesServer.self, ChatHost.self, PushRequestCommand.self,
        ])

    static func main() async {
        EventLoopThreads.followAffinity()
        await self.main(nil)
    }
}
