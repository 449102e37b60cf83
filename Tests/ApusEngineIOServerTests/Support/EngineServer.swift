import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusTesting
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

/// A server whose sessions echo messages. All connections share one embedded event loop, whose
/// clock the test advances.
///
/// Not thread-safe: used on the calling thread only.
final class EngineServer {
    private final class Recorder: EngineIOSessionDelegate {
        var events: [String] = []
        var sessions: [EngineIOSession] = []
        /// Whether the sessions echo messages.
        var echoes = true

        func sessionOpened(_ session: EngineIOSession) { self.sessions.append(session) }
        func session(_ session: EngineIOSession, received message: EngineIOMessage) {
            switch message {
            case .text(let bytes): self.events.append(String(buffer: bytes))
            case .binary(let bytes): self.events.append("binary \(bytes.readableBytes)")
            }
            if self.echoes { session.send(message) }
        }
        func session(_ session: EngineIOSession, closed reason: EngineIOCloseReason) {
            self.events.append("closed: \(reason)")
            self.sessions.removeAll { $0 === session }
        }
    }

    let eventLoop = EmbeddedEventLoop()
    let engine: EngineIOServer
    /// The connection of ``exchange(_:_:fields:body:)``.
    let http: EmbeddedHTTPConnection
    private let recorder: Recorder

    /// The received messages and the close reasons of the sessions.
    var events: [String] { self.recorder.events }
    /// The open sessions, oldest first.
    var sessions: [EngineIOSession] { self.recorder.sessions }
    var echoes: Bool {
        get { self.recorder.echoes }
        set { self.recorder.echoes = newValue }
    }

    init(
        isAlone: Bool = false, passing: PassThroughTimeouts? = nil, _ configure: (inout EngineIOServerConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = EngineIOServerConfiguration()
        configure(&configuration)
        // The delegate is created on the embedded event loop, which runs on this thread.
        nonisolated(unsafe) let recorder = Recorder()
        self.recorder = recorder
        self.engine = EngineIOServer(configuration: configuration, logger: Logger(label: "test")) { _ in recorder }
        self.http = try EmbeddedHTTPConnection(
            [self.engine.makeHTTPHandler(isAlone: isAlone, passing: passing)], on: self.eventLoop)
    }

    /// Advances the clock for all connections.
    func pass(_ time: Duration) { self.eventLoop.advanceTime(by: TimeAmount(time)) }

    /// Opens another connection.
    func connect(isAlone: Bool = false) throws -> EmbeddedHTTPConnection {
        try EmbeddedHTTPConnection([self.engine.makeHTTPHandler(isAlone: isAlone)], on: self.eventLoop)
    }

    func exchange(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:], body: String? = nil
    ) throws -> EmbeddedHTTPConnection.Answer? {
        try self.http.exchange(method, path, fields: fields, body: body)
    }

    /// Opens a polling session of version 4. Returns the path of its further requests.
    func handshake() throws -> String {
        let answer = try #require(try self.exchange(.get, "/engine.io/?EIO=4&transport=polling"))
        #expect(answer.status == 200)
        let sid = try #require(answer.body.firstMatch(of: /"sid":"([^"]+)"/)?.1)
        return "/engine.io/?EIO=4&transport=polling&sid=\(sid)"
    }

    /// Opens a WebSocket with this query.
    func webSocket(_ query: String, fields: HTTPFields = [:]) throws -> EngineWebSocket {
        try EngineWebSocket(self.connect(), "/engine.io/?\(query)", fields: fields)
    }
}
