import ApusEngineIOProtocol
import HTTPTypes
import NIOCore

/// One request under the server's path, from its head to its response.
struct EngineIOExchange {
    enum Phase {
        case reading
        case answering
    }

    let request: HTTPRequest
    /// The parsed request, or the error it is refused with when it is complete.
    let parsed: Result<EngineIORequest, EngineIOError>
    let responder: EngineIOResponder
    var keepAlive: Bool
    var phase = Phase.reading
    var body = ByteBuffer()
    /// The session of this POST, which accepts no other POST meanwhile.
    var post: EngineIOSession?
}
