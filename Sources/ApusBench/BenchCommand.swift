package import ArgumentParser

/// `apus bench`: a load for any WebSocket or Socket.IO server.
package struct BenchCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Put a load on a WebSocket or Socket.IO server and measure it.",
        discussion: """
            apus bench server --port 9000                            a server to try it on
            apus bench socketio http://127.0.0.1:9000 --connections 50 --in-flight 4
            apus bench ws ws://127.0.0.1:9001 --rate 20000 --duration 30 --json before.json
            apus bench compare before.json after.json

            Put the load only on servers of your own. With --rate a latency counts from the time a message was meant to be sent, so that the waiting of \
            those that could not be sent is not left out; without it the next message goes out when an answer has come. The result says when this \
            program, and not the server, was the limit.
            """,
        subcommands: [
            BenchWebSocketCommand.self, BenchSocketIOCommand.self, BenchReceiveCommand.self, BenchChatCommand.self,
            BenchFileCommand.self, BenchServerCommand.self,
            BenchCompareCommand.self,
        ])

    package init() {}
}
