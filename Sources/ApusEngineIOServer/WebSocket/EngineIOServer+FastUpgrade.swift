import ApusConnectivity
import ApusEngineIOProtocol
import ApusEventLoop
package import ApusWebSocket
package import ApusWebSocketProtocol
package import HTTPTypes
package import NIOCore
import NIOHTTP1

extension EngineIOServer: FastUpgradeHost {
    package var handshakeLimits: WebSocketLimits { WebSocketLimits() }

    package func receive(_ request: HTTPRequest, at upgradeHandler: FastUpgradeHandler, on channel: any Channel) -> Bool {
        guard self.configuration.allowRequest == nil, self.configuration.covers(request.path),
            let parsed = try? self.configuration.judge(request).parsed.get(),
            let accepted = try? self.acceptWebSocket(of: request, parsed, from: channel.remoteAddress, on: channel.eventLoop)
        else { return false }
        upgradeHandler.acceptUpgrade(accepted.handler, answering: accepted.fields)
        accepted.begin()
        return true
    }

    package func addHTTPHandlers(to pipeline: ChannelPipeline.SynchronousOperations, isSecure: Bool, deadline: NIODeadline) throws {
        try pipeline.addHandlers([
            HTTPResponseEncoder(),
            Self.makeDecoder(),
            HTTPRequestGuard(isAlone: true, logger: self.logger),
            self.makeHTTPHandler(isSecure: isSecure, isAlone: true, firstDeadline: deadline),
            NotFoundHandler(),
        ])
    }

    /// Creates the decoder of a connection's requests. A head may have 80 KiB and 1,000 fields.
    static func makeDecoder() -> ByteToMessageHandler<HTTPRequestDecoder> {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 80 << 10
        limits.maxHeaderListSize = 80 << 10
        limits.maxHeaderFieldCount = 1_000
        return ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits))
    }
}
