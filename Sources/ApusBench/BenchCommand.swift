package import ArgumentParser

/// `apus bench`: applies a load to a server and measures it.
package struct BenchCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure a server or the Apus client under a load.",
        discussion: """
            apus bench server --port 9000                            a server to measure
            apus bench socketio http://127.0.0.1:9000 --connections 50 --in-flight 4
            apus bench ws ws://127.0.0.1:9001 --rate 20000 --duration 30 --json before.json
            apus bench compare before.json after.json

            Use this command only on servers of your own. With --rate, a latency counts from the scheduled send time, so that it includes the \
            time a message waited to be sent. Without --rate, each answer triggers the next message. The result contains a warning \
            if this program, not the server, limited the load.
            """,
        subcommands: [
            BenchWebSocketCommand.self, BenchSocketIOCommand.self, BenchReceiveCommand.self, BenchChatCommand.self,
            BenchFileCommand.self, BenchServerCommand.self,
            BenchCompareCommand.self,
        ])

    package init() {}
}
