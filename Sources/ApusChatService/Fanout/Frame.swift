import ApusChatProtocol
import ApusJSON
import ApusSocketIOProtocol

/// A push that is encoded once for all of its recipients.
struct Frame: Sendable {
    let event: String
    /// The feature that a client must have to receive the push; nil if all clients receive it.
    let feature: PushFeature?
    let payload: SocketIOPayload
    /// The payload as a value, for connections that the server translates to another protocol.
    let value: JSONValue

    /// - Returns: Nil if the payload cannot be encoded as JSON, such as an infinite number.
    init?<Payload>(_ push: ChatPush<Payload>, _ payload: Payload) {
        let value = payload.json
        guard let payload = try? SocketIOPayload(writing: value) else { return nil }
        self.event = push.name
        self.feature = push.feature
        self.payload = payload
        self.value = value
    }
}
