import ApusChatProtocol
import ApusSocketIOProtocol

/// A push, encoded once for all of its recipients.
struct Frame: Sendable {
    let event: String
    let payload: SocketIOPayload

    /// - Returns: Nil for a push that has no JSON text, such as an infinite number.
    init?<Payload>(_ push: ChatPush<Payload>, _ payload: Payload) {
        guard let payload = try? SocketIOPayload(writing: payload.json) else { return nil }
        self.event = push.name
        self.payload = payload
    }
}
