import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes

/// Hummingbird's HTTP/1 channel, which is closed if no task handles it. This occurs if a connection
/// is accepted while the listener is cancelled.
struct PlainChannel: HTTPChannelHandler {
    let base: HTTP1Channel

    init(responder: @escaping Responder) { self.base = HTTP1Channel(responder: responder) }

    var responder: Responder { self.base.responder }

    /// An accepted connection.
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let requests: UnhandledChannel<HTTPRequestPart, HTTPResponsePart>
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        self.base.setup(channel: channel, logger: logger).map { Value(channel: channel, requests: UnhandledChannel($0)) }
    }

    func handle(value: Value, logger: Logger) async {
        guard let requests = value.requests.take() else { return }
        await self.handleHTTP(asyncChannel: requests, logger: logger)
    }
}
