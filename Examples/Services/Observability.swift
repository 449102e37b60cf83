// The code of the landing page of ApusObservability. `scripts/check-snippets` compares the two.
import ApusObservability
import ApusSocketIOServer

func observedServer() -> SocketIOServer {
    var configuration = SocketIOServerConfiguration()
    configuration.observers = [SocketIOServerMetrics(), SocketIOServerTracing()]
    let io = SocketIOServer(configuration: configuration)
    return io
}
