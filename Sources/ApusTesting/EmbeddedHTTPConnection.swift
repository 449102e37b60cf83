package import HTTPTypes
package import NIOCore
package import NIOEmbedded
package import NIOHTTP1

/// One HTTP connection to server handlers without a socket and with a manual clock.
///
/// Not thread-safe: everything happens on the calling thread, as with `EmbeddedChannel`.
package final class EmbeddedHTTPConnection {
    /// A complete response.
    package struct Answer: Equatable {
        package var status: Int
        package var fields: HTTPFields
        package var bytes = ByteBuffer()

        /// The body as text.
        package var body: String { String(buffer: self.bytes) }
    }

    package let channel: EmbeddedChannel
    private let authority: String

    /// - Parameters:
    ///   - handlers: The server handlers, which use `HTTPServerRequestPart` and
    ///     `HTTPServerResponsePart`.
    ///   - authority: The authority of every request.
    ///   - eventLoop: The event loop. Connections of one session must share it.
    package init(
        _ handlers: [any RemovableChannelHandler], authority: String = "localhost:3000", on eventLoop: EmbeddedEventLoop = .init()
    ) throws {
        self.authority = authority
        self.channel = EmbeddedChannel(loop: eventLoop)
        // Handlers for a web framework search for a decoder in the pipeline. The parts of requests
        // are passed to the handlers after the decoder.
        try self.channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
        for handler in handlers { try self.channel.pipeline.syncOperations.addHandler(handler) }
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    /// Sends a complete request.
    package func send(_ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: String? = nil) throws {
        try self.send(method, path, fields: fields, bytes: body.map(ByteBuffer.init(string:)))
    }

    /// Sends a complete request.
    package func send(_ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], bytes: ByteBuffer?) throws {
        try self.sendHead(method, path, fields: fields)
        if let bytes { try self.send(.body(bytes)) }
        try self.send(.end(nil))
        self.channel.embeddedEventLoop.run()
    }

    /// Sends only the head of a request.
    package func sendHead(_ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:]) throws {
        var headers = HTTPHeaders([("Host", self.authority)])
        for field in fields { headers.add(name: field.name.rawName, value: field.value) }
        try self.send(.head(.init(version: .http1_1, method: .init(rawValue: method.rawValue), uri: path, headers: headers)))
    }

    /// Sends a part of a request, as the decoder would.
    package func send(_ part: HTTPServerRequestPart) throws {
        let decoder = try self.channel.pipeline.syncOperations.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
        decoder.fireChannelRead(NIOAny(part))
        decoder.fireChannelReadComplete()
        try self.channel.throwIfErrorCaught()
    }

    /// Returns the next response; `nil` if the server has not sent a complete one.
    package func answer() throws -> Answer? {
        var answer: Answer?
        while let part = try self.channel.readOutbound(as: HTTPServerResponsePart.self) {
            switch part {
            case .head(let head):
                var fields = HTTPFields()
                for (name, value) in head.headers { HTTPField.Name(name).map { fields.append(HTTPField(name: $0, value: value)) } }
                answer = Answer(status: Int(head.status.code), fields: fields)
            case .body(.byteBuffer(let bytes)): answer?.bytes.writeImmutableBuffer(bytes)
            case .body(.fileRegion): break
            case .end: return answer
            }
        }
        return answer
    }

    /// Sends a complete request and returns the response, if it is available immediately.
    package func exchange(_ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: String? = nil) throws -> Answer? {
        try self.send(method, path, fields: fields, body: body)
        return try self.answer()
    }

    /// Advances the time of the connection's event loop.
    package func pass(_ time: Duration) {
        self.channel.embeddedEventLoop.advanceTime(by: TimeAmount(time))
    }
}
