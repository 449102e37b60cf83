import ApusEngineIOProtocol
import HTTPTypes
import NIOCore

/// One request of ours, from its head to its answer.
struct EngineIOExchange {
    enum Phase {
        case reading
        case answering
    }

    let request: HTTPRequest
    /// What the request asks for, or why it is refused; said when it is whole.
    let parsed: Result<EngineIORequest, EngineIOError>
    let responder: EngineIOResponder
    var keepAlive: Bool
    var phase = Phase.reading
    var body = ByteBuffer()
    /// The session whose POST this is; no other may run meanwhile.
    var post: EngineIOSession?
}
