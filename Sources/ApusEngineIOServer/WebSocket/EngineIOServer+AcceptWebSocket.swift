import ApusEngineIOProtocol
import ApusEventLoop
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore

// The WebSocket handshake, independent of the handler that read the request.
extension EngineIOServer {
    private typealias Agreement = (fields: HTTPFields, agreement: WebSocketAgreement)

    /// Accepts the WebSocket of a request and creates its handler, for a pipeline on this event
    /// loop. A handshake opens a session; an upgrade uses the session of its `sid`.
    ///
    /// - Returns: `nil` if the request does not ask for a WebSocket.
    func acceptWebSocket(
        of request: HTTPRequest, _ parsed: EngineIORequest, from remoteAddress: SocketAddress?, on eventLoop: any EventLoop
    ) throws(EngineIOError) -> AcceptedWebSocket? {
        let session: EngineIOSession
        let agreement: Agreement
        let isNew: Bool
        switch parsed {
        case .handshake(.webSocket, let version):
            agreement = try self.agree(on: request)
            session = try self.open(.webSocket, version: version, request: request, remoteAddress: remoteAddress, on: eventLoop)
            isNew = true
        case .upgrade(let sid):
            session = try self.session(sid)
            agreement = try self.agree(on: request)
            isNew = false
        case .handshake(.polling, _), .poll, .post, .preflight: return nil
        }
        let transport = EngineIOWebSocketTransport(session: session, configuration: self.configuration, eventLoop: eventLoop)
        let handler = WebSocketHandler(
            role: .server, limits: .init(maximumMessageBytes: self.configuration.maximumPayloadBytes), deflate: agreement.agreement.deflate,
            delegate: transport, buffers: self.buffers.value(on: eventLoop))
        transport.attach(handler)
        return AcceptedWebSocket(
            handler: handler, fields: self.fields(of: agreement, for: request, beginning: isNew ? session.id : nil), isNew: isNew,
            session: session, transport: transport)
    }

    /// Validates the WebSocket handshake of a request.
    private func agree(on request: HTTPRequest) throws(EngineIOError) -> Agreement {
        do throws(WebSocketError) {
            return try WebSocketHandshake.accept(request, deflate: self.configuration.perMessageDeflate)
        } catch {
            throw EngineIOError(.badRequest, message: "Bad request", cause: error)
        }
    }

    /// Returns the header fields of the 101 response.
    ///
    /// - Parameter sid: The id of the session that starts with the response; `nil` for an upgrade.
    private func fields(of agreement: Agreement, for request: HTTPRequest, beginning sid: RandomID?) -> HTTPFields {
        var fields = HTTPFields()
        self.configuration.changeFields(&fields, of: request, beginning: sid)
        // The application cannot change the fields of the upgrade.
        for field in agreement.fields { fields[field.name] = field.value }
        fields[.contentLength] = nil
        fields[.transferEncoding] = nil
        return fields
    }
}

/// A WebSocket that the server accepts, before the 101 response is sent.
struct AcceptedWebSocket {
    let handler: WebSocketHandler
    /// The header fields of the 101 response.
    let fields: HTTPFields
    /// Whether the session begins on this WebSocket. If not, the WebSocket is the probe of an
    /// upgrade.
    fileprivate let isNew: Bool
    fileprivate let session: EngineIOSession
    fileprivate let transport: EngineIOWebSocketTransport

    /// Passes the WebSocket to its session. Call once, when the handler is in its pipeline.
    func begin() {
        let (session, transport, isNew) = (self.session, self.transport, self.isNew)
        session.eventLoop.runOnLoop { if isNew { session.opened(on: transport) } else { session.probeOpened(transport) } }
    }
}
