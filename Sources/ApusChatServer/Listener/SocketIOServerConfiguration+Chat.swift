import ApusChatProtocol
import ApusEngineIOServer
import ApusSocketIOServer
import ApusWebSocket

extension SocketIOServerConfiguration {
    /// Returns the Socket.IO configuration of the chat, whose packets are small and contain only
    /// text.
    static func chat(_ chat: ChatServerConfiguration, proxies: TrustedProxies) -> Self {
        var configuration = Self()
        configuration.engine.allowsEngineIO3 = chat.allowsEngineIO3 || chat.demo
        configuration.engine.maximumPayloadBytes = ChatLimits.requestBytes
        // The events of the demo have binary attachments.
        if !chat.demo { configuration.maximumAttachments = 0 }
        // An access token has about 100 bytes. The limit is larger for future clients.
        configuration.maximumAuthBytes = 1_024
        configuration.connectTimeout = .seconds(10)
        configuration.engine.maximumClients = chat.maximumClients
        configuration.engine.maximumClientsPerAddress = chat.maximumClientsPerAddress
        // The limit permits one answer, which is the largest message, and pushes of the same size.
        // A client with more queued bytes is disconnected, because its reconnection and sync cost
        // less than the pushes.
        configuration.engine.maximumQueuedBytes = 2 * ChatLimits.answerBytes
        // The server reads no further request of a client while more bytes than this are queued for
        // the client.
        configuration.engine.queueLowMark = 64 << 10
        if proxies != .none { configuration.engine.clientAddress = { request, peer in proxies.clientKey(of: request, from: peer) } }
        return configuration
    }
}
