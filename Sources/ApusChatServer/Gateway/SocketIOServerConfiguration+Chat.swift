import ApusChatProtocol
import ApusSocketIOServer

extension SocketIOServerConfiguration {
    /// The limits of the chat, whose packets are small and text only.
    ///
    /// - Parameters:
    ///   - hasDemo: Whether the namespace `/` answers the demo's events, which carry attachments, also
    ///     for clients of Socket.IO 2.x.
    ///   - allowsEngineIO3: Whether those clients may connect without the demo.
    static func chat(hasDemo: Bool, allowsEngineIO3: Bool = false) -> Self {
        var configuration = Self()
        configuration.maximumPayloadBytes = ChatLimits.requestBytes
        configuration.allowsEngineIO3 = allowsEngineIO3 || hasDemo
        if !hasDemo { configuration.maximumAttachments = 0 }
        configuration.connectTimeout = .seconds(10)
        // One answer, the largest thing queued for a client, and as much again for pushes. A client
        // that is further behind is disconnected; it reconnects and syncs, which costs less than
        // the pushes it missed.
        configuration.maximumQueuedBytes = 2 * ChatLimits.answerBytes
        // No handler reads the handshake request.
        configuration.keepsRequests = false
        return configuration
    }
}
