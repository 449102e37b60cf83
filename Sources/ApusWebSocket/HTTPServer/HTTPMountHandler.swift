package import Logging
package import NIOCore
import NIOHTTP1
import NIOSSL

/// Mounts a handler of HTTP/1 requests in the pipeline of a web framework, and removes itself.
///
/// The handler, preceded by an ``HTTPRequestGuard``, is added after NIO's HTTP handlers and before
/// the handlers of the framework. At that position, the types are `HTTPServerRequestPart` and
/// `HTTPServerResponsePart`, regardless of the types that the framework uses. A pipeline that does
/// not decode HTTP/1, such as that of an HTTP/2 stream, is not changed.
///
/// Confined to the channel's event loop.
package final class HTTPMountHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = NIOAny

    private let logger: Logger
    private let makeHandler: (_ isSecure: Bool) -> any ChannelHandler

    /// Creates a handler that mounts another one.
    ///
    /// - Parameters:
    ///   - logger: The logger for a warning if the pipeline does not decode HTTP/1.
    ///   - makeHandler: A closure that creates the handler to mount. `isSecure` is `true` if the
    ///     connection uses TLS.
    package init(logger: Logger, _ makeHandler: @escaping (_ isSecure: Bool) -> any ChannelHandler) {
        self.logger = logger
        self.makeHandler = makeHandler
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        defer { pipeline.removeHandler(context: context, promise: nil) }
        guard let last = Self.lastHTTPHandler(in: pipeline) else {
            return self.logger.warning("Handler not mounted: the pipeline does not decode HTTP/1")
        }
        let isSecure = (try? pipeline.context(handlerType: NIOSSLServerHandler.self)) != nil
        var handlers: [any ChannelHandler] = [self.makeHandler(isSecure)]
        if !(last.handler is HTTPRequestGuard) { handlers.insert(HTTPRequestGuard(isAlone: false, logger: self.logger), at: 0) }
        // This fails if the channel is closed.
        try? pipeline.addHandlers(handlers, position: .after(last.handler))
    }

    private static func lastHTTPHandler(in pipeline: ChannelPipeline.SynchronousOperations) -> ChannelHandlerContext? {
        func context<Handler: ChannelHandler>(_ type: Handler.Type) -> ChannelHandlerContext? { try? pipeline.context(handlerType: type) }
        // Search from the last to the first handler of NIO's `configureHTTPServerPipeline`.
        guard let decoder = context(ByteToMessageHandler<HTTPRequestDecoder>.self) else { return nil }
        return context(HTTPRequestGuard.self) ?? context(HTTPServerProtocolErrorHandler.self)
            ?? context(NIOHTTPRequestHeadersValidator.self) ?? context(HTTPServerPipelineHandler.self) ?? decoder
    }
}

@available(*, unavailable)
extension HTTPMountHandler: Sendable {}
