// The code of the landing page of ApusWebSocketProtocol. `scripts/check-snippets` compares the two.
import ApusWebSocketProtocol
import NIOCore

struct WebSocketEcho {
    var endpoint = WebSocketEndpoint.server()

    /// Returns the bytes to write after received ones, which may begin and end anywhere in a frame.
    mutating func received(_ bytes: ByteBuffer) -> ByteBuffer {
        for event in self.endpoint.receive(bytes) {
            switch event {
            case .message(let message): self.endpoint.send(message)
            case .failed(let error): print(error)
            case .ping, .pong, .closed: break
            }
        }
        return self.endpoint.takeOutput()
    }

    /// Whether to close the transport after the bytes are written.
    var isFinished: Bool { self.endpoint.isFinished }
}
