import ApusBench
import ApusCommandSupport
import ArgumentParser

/// The command-line tool `apus`.
@main struct Apus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apus", abstract: "A chat server and client, Socket.IO, WebSocket and file transfer from the command line.",
        version: "0.1.0",
        subcommands: [
            Serve.self, Admin.self, ChatCommand.self, ConnectCommand.self, WebSocketCommand.self, ReceiveCommand.self, SendCommand.self,
            BenchCommand.self,
        ])

    static func main() async {
        EventLoopThreads.followAffinity()
        await self.main(nil)
    }
}
