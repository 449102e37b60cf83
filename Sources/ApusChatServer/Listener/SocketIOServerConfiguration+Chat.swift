import ApusChatProtocol
import ApusEngineIOServer
import ApusSocketIOServer
import ApusWebSocket

extension SocketIOServerConfiguration {
    /// Returns the limits of the chat server, whose packets are small and contain text only.
    static func chat(_ chat: ChatServerConfiguration, proxies: TrustedProxies) -> Self {
        var configuration = Self()
        configuration.engine.allowsEngineIO3 = chat.allowsEngineIO3 || chat.demo
        configuration.engine.maximumPayloadBytes = ChatLimits.requestBytes
        // The demo's events have attachments.
        if !chat.demo { configuration.maximumAttachments = 0 }
        // An access token has about 100 bytes; the rest is reserved for later clients.
        configuration.maximumAuthBytes = 1_024
        configuration.connectTimeout = .seconds(10)
        configuration.engine.maximumClients = chat.maximumClients
        configuration.engine.maximumClientsPerAddress = chat.maximumClientsPerAddress
        // One answer, which is the largest message, and the same amount for pushes. A client that
        // is further behind is disconnected. Its reconnect and sync cost less than the missed
        // pushes.
        configuration.engine.maximumQueuedBytes = 2 * ChatLimits.answerBytes
        // The server reads no further request of a client while this many bytes are queued for it.
        configuration.engine.queueLowMark = 64 << 10
        if proxies != .none { configuration.engine.clientAddress = { request, peer in proxies.clientKey(of: request, from: peer) } }
        return configuration
    }
}
