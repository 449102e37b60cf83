import ApusChatProtocol
import ApusSocketIOServer

extension SocketIOServerConfiguration {
    /// The limits of the chat, whose packets are small and text only.
    static func chat(_ chat: ChatServerConfiguration) -> Self {
        var configuration = Self()
        configuration.allowsEngineIO3 = chat.allowsEngineIO3 || chat.demo
        configuration.maximumPayloadBytes = ChatLimits.requestBytes
        // The events of the demo's namespace have attachments.
        if !chat.demo { configuration.maximumAttachments = 0 }
        // A token of at most 128 bytes, and room for what later clients add.
        configuration.maximumAuthBytes = 1_024
        configuration.connectTimeout = .seconds(10)
        // One answer, the largest thing queued for a client, and as much again for pushes. A client
        // that is further behind is disconnected; it reconnects and syncs, which costs less than
        // the pushes it missed.
        configuration.maximumQueuedBytes = 2 * ChatLimits.answerBytes
        // No further request of a client is taken while this much waits for it.
        configuration.queueLowMark = 64 << 10
        // No handler reads the handshake request.
        configuration.keepsRequests = false
        return configuration
    }
}
