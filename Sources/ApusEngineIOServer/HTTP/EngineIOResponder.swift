import ApusEngineIOProtocol
import ApusJSON
import HTTPTypes
import NIOCore

/// Answers one HTTP request, once, from any event loop.
final class EngineIOResponder: Sendable {
    private let eventLoop: any EventLoop
    private let handler: NIOLoopBound<EngineIOHTTPHandler>
    private let corsFields: HTTPFields

    init(handler: EngineIOHTTPHandler, corsFields: HTTPFields, eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
        self.corsFields = corsFields
    }

    /// 200 with a polling payload.
    func respond(_ payload: EngineIOPayload) {
        self.respond(.ok, contentType: payload.contentType, body: payload.bytes)
    }

    /// 200 for a POST that was taken.
    func respondOK() {
        self.respond(.ok, contentType: "text/html", body: ByteBuffer(string: "ok"))
    }

    /// 204 for a CORS preflight.
    func respondToPreflight() {
        self.respond(.noContent, contentType: nil, body: ByteBuffer())
    }

    /// The status and the JSON body the error stands for. `close` ends the connection after it.
    func refuse(_ error: EngineIOError, close: Bool = false) {
        let (status, number, message) = error.httpRefusal ?? (400, 3, "Bad request")
        let body = JSONValue.object(["code": .integer(Int64(number)), "message": .string(message)])
        let bytes = (try? JSONWriter.bytes(of: body)) ?? []
        self.respond(.init(code: status), contentType: "application/json", body: ByteBuffer(bytes: bytes), close: close)
    }

    private func respond(_ status: HTTPResponse.Status, contentType: String?, body: ByteBuffer, close: Bool = false) {
        var fields = self.corsFields
        fields[.contentType] = contentType
        fields[.cacheControl] = "no-store"
        if status != .noContent { fields[.contentLength] = String(body.readableBytes) }
        if close { fields[.connection] = "close" }
        let response = HTTPResponse(status: status, headerFields: fields)
        if self.eventLoop.inEventLoop {
            self.handler.value.write(response, body: body, for: self)
        } else {
            self.eventLoop.execute { self.handler.value.write(response, body: body, for: self) }
        }
    }
}
