import ApusEngineIOProtocol
import ApusJSON
import HTTPTypes
import NIOCore

/// Answers one HTTP request, once, from any event loop.
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

    /// 200 with a polling payload.
    ///
    /// - Parameters:
    ///   - mayCompress: Whether no packet wants otherwise.
    ///   - session: The session that begins with this answer.
    func respond(_ payload: EngineIOPayload, mayCompress: Bool = false, beginning session: EngineIOSession? = nil) {
        guard mayCompress, let compression = self.server.configuration.httpCompression,
            (compression.threshold...max(compression.threshold, compression.maximumBytes)).contains(payload.bytes.readableBytes),
            let coding = HTTPContentCoding(accepted: self.request.headerFields[values: .acceptEncoding]),
            let body = coding.encode(payload.bytes, level: compression.level)
        else { return self.respond(.ok, contentType: payload.contentType, body: payload.bytes, beginning: session) }
        self.respond(.ok, contentType: payload.contentType, coding: coding, body: body, beginning: session)
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

extension EngineIOServerConfiguration {
    /// Adds the cookie and asks the hooks.
    func changeFields(_ fields: inout HTTPFields, of request: HTTPRequest, beginning sid: EngineIOID?) {
        if let sid {
            if let cookie { fields.append(HTTPField(name: .setCookie, value: cookie.header(value: sid.description))) }
            self.initialHeaders?(&fields, request)
        }
        self.headers?(&fields, request)
    }
}
