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
    /// The parsed request, or the error with which the server refuses the request once it is
    /// complete.
    let parsed: Result<EngineIORequest, EngineIOError>
    let responder: EngineIOResponder
    var keepAlive: Bool
    var phase = Phase.reading
    var body = ByteBuffer()
    /// The session of this POST. The session accepts no other POST until this one ends.
    var post: EngineIOSession?
}
