/// The kind of an HTTP request to an Engine.IO server, derived from its method and query.
///
/// Source: Engine.IO protocol v4, "HTTP long-polling" and "WebSocket"; error codes as in Node's
/// engine.io.
package enum EngineIORequest: Equatable, Sendable {
    case handshake(EngineIOTransport, EngineIOVersion)
    case poll(sid: String)
    case post(sid: String)
    /// A WebSocket handshake with the id of a polling session.
    case upgrade(sid: String)
    /// A CORS preflight.
    case preflight

    /// Validates a request in the order of Node's engine.io: transport, session, method, version.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - query: The URL's query, decoded.
    ///   - opensWebSocket: Whether the request has the field `Upgrade: websocket`.
    ///   - transports: The transports that the server offers.
    ///   - allowsV3: Whether the server supports version 3.
    /// - Throws: `EngineIOError` with the code of the HTTP response.
    package init(
        method: String, query: QueryString, opensWebSocket: Bool, transports: Set<EngineIOTransport>, allowsV3: Bool
    ) throws(EngineIOError) {
        if method == "OPTIONS" {
            self = .preflight
            return
        }
        guard let transport = query["transport"].flatMap(EngineIOTransport.init(rawValue:)), transports.contains(transport)
        else {
            throw EngineIOError(.transportUnknown, message: "Transport unknown")
        }
        switch (transport, opensWebSocket) {
        case (.webSocket, true), (.polling, false): break
        case (.webSocket, false), (.polling, true): throw EngineIOError(.badRequest, message: "Bad request")
        }
        guard let sid = query["sid"] else {
            guard method == "GET" else { throw EngineIOError(.badHandshakeMethod, message: "Bad handshake method") }
            guard let version = EngineIOVersion(query: query["EIO"], allowsV3: allowsV3) else {
                throw EngineIOError(.unsupportedVersion, message: "Unsupported protocol version")
            }
            self = .handshake(transport, version)
            return
        }
        switch (transport, method) {
        case (.webSocket, "GET"): self = .upgrade(sid: sid)
        case (.polling, "GET"): self = .poll(sid: sid)
        case (.polling, "POST"): self = .post(sid: sid)
        case (.webSocket, _), (.polling, _): throw EngineIOError(.badRequest, message: "Bad request")
        }
    }
}
