package import HTTPTypes
package import NIOCore
package import NIOEmbedded
import NIOHTTPTypes

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
    ///   - handlers: The server handlers, which use `HTTPRequestPart` and `HTTPResponsePart`.
    ///   - authority: The authority of every request.
    ///   - eventLoop: The event loop. Connections of one session must share it.
    package init(
        _ handlers: [any RemovableChannelHandler], authority: String = "localhost:3000", on eventLoop: EmbeddedEventLoop = .init()
    ) throws {
        self.authority = authority
        self.channel = EmbeddedChannel(loop: eventLoop)
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
        if let bytes { try self.channel.writeInbound(HTTPRequestPart.body(bytes)) }
        try self.channel.writeInbound(HTTPRequestPart.end(nil))
        self.channel.embeddedEventLoop.run()
    }

    /// Sends only the head of a request.
    package func sendHead(_ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:]) throws {
        let request = HTTPRequest(method: method, scheme: "http", authority: self.authority, path: path, headerFields: fields)
        try self.channel.writeInbound(HTTPRequestPart.head(request))
    }

    /// Returns the next response; `nil` while the server holds the request.
    package func answer() throws -> Answer? {
        var answer: Answer?
        while let part = try self.channel.readOutbound(as: HTTPResponsePart.self) {
            switch part {
            case .head(let head): answer = Answer(status: head.status.code, fields: head.headerFields)
            case .body(let bytes): answer?.bytes.writeImmutableBuffer(bytes)
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
