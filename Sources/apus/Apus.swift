import ApusBench
import ApusCommandSupport
import ArgumentParser

/// The command line of Apus.
@main struct Apus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apus", abstract: "Connections that stay up.", version: "0.1.0",
        subcommands: [
            Serve.self, ChatCommand.self, ConnectCommand.self, WebSocketCommand.self, ReceiveCommand.self, SendCommand.self,
            BenchCommand.self,
        ])

    static func main() async {
        EventLoopThreads.followAffinity()
        await self.main(nil)
    }
}
