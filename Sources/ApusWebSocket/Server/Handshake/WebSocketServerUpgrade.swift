package import ApusWebSocketProtocol
package import HTTPTypes
package import NIOCore
import NIOHTTP1

/// Upgrades an HTTP/1 connection to a WebSocket, from within a handler of HTTP requests.
///
/// After the end of the request, the handler must write and flush a complete 101 response with the
/// fields of ``respond(to:protocols:)``, and then, without returning, call
/// ``replaceHTTPHandlers(in:removing:with:)``.
package enum WebSocketServerUpgrade {
    /// Checks a request (RFC 6455 section 4.2.1) and returns the fields of the 101 response.
    ///
    /// - Parameters:
    ///   - request: The request as received.
    ///   - protocols: The supported subprotocols, in order of preference.
    /// - Throws: An error whose `handshakeResponse` is the HTTP response.
    package static func respond(to request: HTTPRequest, protocols: [String] = []) throws(WebSocketError) -> HTTPFields {
        try WebSocketHandshake.respond(to: request, protocols: protocols)
    }

    /// Replaces the HTTP/1 handlers of a pipeline with a WebSocket handler.
    ///
    /// The handler is added directly after the decoder, to receive the bytes that the decoder has
    /// not consumed. A decoder created with `.dropBytes`, as in hummingbird, discards them. A
    /// client must not send frames before it has received the 101 response.
    ///
    /// - Parameters:
    ///   - pipeline: The channel's pipeline, on its event loop.
    ///   - mounted: The caller's own handler, which is also removed.
    ///   - handler: The WebSocket handler.
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
            return handler.transportEnded(cause: error)  // the channel is already closed
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
        // Remove the decoder last: it passes on its left-over bytes when removed, possibly after
        // the current read.
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
