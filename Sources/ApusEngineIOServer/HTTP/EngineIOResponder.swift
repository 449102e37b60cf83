import ApusEngineIOProtocol
import ApusEventLoop
import ApusJSON
import HTTPTypes
import NIOCore

/// Answers one HTTP request, once. May be called on any event loop.
final class EngineIOResponder: Sendable {
    private let eventLoop: any EventLoop
    private let handler: NIOLoopBound<EngineIOHTTPHandler>
    private let request: HTTPRequest
    private let server: EngineIOServer
    private let corsFields: HTTPFields

    init(handler: EngineIOHTTPHandler, request: HTTPRequest, server: EngineIOServer, corsFields: HTTPFields, eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.handler = NIOLoopBound(handler, eventLoop: eventLoop)
        self.request = request
        self.server = server
        self.corsFields = corsFields
    }

    /// Responds with 200 and a polling payload.
    ///
    /// - Parameters:
    ///   - mayCompress: Whether all packets permit compression.
    ///   - session: The session that starts with this response.
    func respond(_ payload: EngineIOPayload, mayCompress: Bool = false, beginning session: EngineIOSession? = nil) {
        guard mayCompress, let compression = self.server.configuration.httpCompression,
            (compression.threshold...max(compression.threshold, compression.maximumBytes)).contains(payload.bytes.readableBytes),
            let coding = HTTPContentCoding(accepted: self.request.headerFields[values: .acceptEncoding]),
            let body = coding.encode(payload.bytes, level: compression.level)
        else { return self.respond(.ok, contentType: payload.contentType, body: payload.bytes, beginning: session) }
        self.respond(.ok, contentType: payload.contentType, coding: coding, body: body, beginning: session)
    }

    /// Responds with 200 to an accepted POST.
    func respondOK() {
        self.respond(.ok, contentType: "text/html", body: ByteBuffer(string: "ok"))
    }

    /// Responds with 204 to a CORS preflight.
    func respondToPreflight() {
        self.respond(.noContent, contentType: nil, body: ByteBuffer())
    }

    /// Responds with the status and JSON body of an error. `close` closes the connection
    /// afterwards.
    func refuse(_ error: EngineIOError, close: Bool = false) {
        let (status, number, message) = error.httpRefusal ?? (400, 3, "Bad request")
        let body = JSONValue.object(["code": .integer(Int64(number)), "message": .string(message)])
        let bytes = (try? JSONWriter.bytes(of: body)) ?? []
        self.respond(.init(code: status), contentType: "application/json", body: ByteBuffer(bytes: bytes), close: close)
    }

    private func respond(
        _ status: HTTPResponse.Status, contentType: String?, coding: HTTPContentCoding? = nil, body: ByteBuffer, close: Bool = false,
        beginning session: EngineIOSession? = nil
    ) {
        var fields = self.corsFields
        fields[.cacheControl] = "no-store"
        self.server.configuration.changeFields(&fields, of: self.request, beginning: session?.id)
        fields[.contentType] = contentType
        fields[.contentEncoding] = coding?.rawValue
        if coding != nil { fields.append(HTTPField(name: .vary, value: "Accept-Encoding")) }
        fields[.contentLength] = status == .noContent ? nil : String(body.readableBytes)
        fields[.transferEncoding] = nil
        fields[.connection] = close ? "close" : nil
        let response = HTTPResponse(status: status, headerFields: fields)
        if self.eventLoop.inEventLoop {
            self.handler.value.write(response, body: body, for: self)
        } else {
            self.eventLoop.execute { self.handler.value.write(response, body: body, for: self) }
        }
    }
}
