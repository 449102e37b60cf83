package import ApusWebSocketProtocol
package import HTTPTypes
package import NIOCore
import NIOHTTP1

/// Turns an HTTP/1 connection into a WebSocket, from within a handler of its requests.
///
/// The order: the handler has seen the request's end, writes and flushes the 101 with the fields of ``respond(to:protocols:)`` and
/// its end, and calls ``replaceHTTPHandlers(in:removing:with:)`` in the same call.
package enum WebSocketServerUpgrade {
    /// Checks RFC 6455 4.2.1 on a request and answers the fields of the 101 response.
    ///
    /// - Parameters:
    ///   - request: The request as it came.
    ///   - protocols: The subprotocols we speak, best first.
    /// - Throws: An error of which `handshakeResponse` is the HTTP answer.
    package static func respond(to request: HTTPRequest, protocols: [String] = []) throws(WebSocketError) -> HTTPFields {
        try WebSocketHandshake.respond(to: request, protocols: protocols)
    }

    /// Takes the handlers of HTTP/1 out of a pipeline and puts a WebSocket in their place.
    ///
    /// The handler stands right behind the decoder, so that bytes the decoder has read too much reach it (a decoder made with
    /// `.dropBytes`, as hummingbird's is, throws them away; no client may send before it has our 101).
    ///
    /// - Parameters:
    ///   - pipeline: The channel's pipeline, on its event loop.
    ///   - mounted: The caller's own handler; it leaves as well.
    ///   - handler: What takes over.
    package static func replaceHTTPHandlers(
        in pipeline: ChannelPipeline.SynchronousOperations,
        removing mounted: any RemovableChannelHandler,
        with handler: WebSocketHandler
    ) {
        let decoder = try? pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
        do {
            if let decoder {
                try pipeline.addHandler(handler, position: .after(decoder.handler))
            } else {
                try pipeline.addHandler(handler, position: .first)
            }
        } catch {
            return handler.transportEnded(cause: error)  // the channel is gone already
        }
        self.remove(HTTPResponseEncoder.self, from: pipeline)
        self.remove(HTTPServerPipelineHandler.self, from: pipeline)
        self.remove(HTTPServerProtocolErrorHandler.self, from: pipeline)
        self.remove(NIOHTTPRequestHeadersValidator.self, from: pipeline)
        self.remove(NIOHTTPResponseHeadersValidator.self, from: pipeline)
        self.remove(HTTPRequestGuard.self, from: pipeline)
        self.remove(WebSocketFallbackHandler.self, from: pipeline)
        pipeline.removeHandler(mounted, promise: nil)
        guard let decoder else { return }
        // Last: it hands its left-over bytes on while it leaves, perhaps only when the present read is through.
        pipeline.removeHandler(context: decoder).assumeIsolated().whenComplete { _ in
            handler.leftoverBytesPassed()
        }
    }

    private static func remove<Handler: RemovableChannelHandler>(_ type: Handler.Type, from pipeline: ChannelPipeline.SynchronousOperations)
    {
        guard let context = try? pipeline.context(handlerType: type) else { return }
        pipeline.removeHandler(context: context, promise: nil)
    }
}

extension WebSocketHandler {
    /// The decoder of HTTP has left. Its bytes came without an end of a read, so that is told, and the answers are sent, now.
    func leftoverBytesPassed() {
        guard self.context != nil, let channel = self.channel, channel.isActive else { return }
        if self.isReading, !self.machine.isFinished { self.delegate?.webSocketReadComplete(self) }
        self.isReading = false
        self.scheduleFlush()
    }
}
