import ApusEngineIOProtocol
import Crypto
import Foundation
import HTTPTypes
package import Logging
import NIOConcurrencyHelpers
import NIOCore

/// Owns the sessions of one Engine.IO endpoint and finds them by id. The HTTP handlers of every connection share it.
///
/// Source: Engine.IO protocol v4.
package final class EngineIOServer: Sendable {
    package let configuration: EngineIOServerConfiguration
    let logger: Logger
    private let makeDelegate: @Sendable (EngineIOSession) -> any EngineIOSessionDelegate
    private let state = NIOLockedValueBox(State())

    private struct State {
        var sessions: [String: EngineIOSession] = [:]
        /// Closed sessions whose last packets wait for a poll.
        var leaving: [String: EngineIOSession] = [:]
        var isShuttingDown = false
    }

    /// - Parameter makeDelegate: Called on the session's event loop for every new session, before its first packet.
    package init(
        configuration: EngineIOServerConfiguration, logger: Logger,
        makeDelegate: @escaping @Sendable (EngineIOSession) -> any EngineIOSessionDelegate
    ) {
        self.configuration = configuration
        self.logger = logger
        self.makeDelegate = makeDelegate
    }

    /// A handler for one connection. It answers requests under the configured path and passes every other request on.
    ///
    /// - Parameter isAlone: Whether no web server stands around it, so that it watches the connection between requests as well.
    package func makeHTTPHandler(isAlone: Bool = false) -> EngineIOHTTPHandler { EngineIOHTTPHandler(server: self, isAlone: isAlone) }

    /// The sessions that are open now.
    package var sessionCount: Int { self.state.withLockedValue { $0.sessions.count } }

    func session(_ sid: String) throws(EngineIOError) -> EngineIOSession {
        guard let session = self.state.withLockedValue({ $0.sessions[sid] ?? $0.leaving[sid] }) else {
            throw EngineIOError(.sessionUnknown, message: "Session ID unknown")
        }
        return session
    }

    /// Makes a session; the caller is on `eventLoop`.
    func open(
        _ transport: EngineIOTransport, version: EngineIOVersion, request: HTTPRequest, remoteAddress: SocketAddress?,
        on eventLoop: any EventLoop
    ) throws(EngineIOError) -> EngineIOSession {
        if let allowRequest = self.configuration.allowRequest {
            do { try allowRequest(request) } catch let error as EngineIOError { throw error } catch {
                throw EngineIOError(.forbidden, message: "Forbidden")
            }
        }
        let session = EngineIOSession(
            id: Self.makeSessionID(), version: version, transport: transport, request: request, remoteAddress: remoteAddress, server: self,
            eventLoop: eventLoop)
        let isAccepted = self.state.withLockedValue { state in
            guard !state.isShuttingDown, state.sessions.count < self.configuration.maximumClients else { return false }
            state.sessions[session.id] = session
            return true
        }
        guard isAccepted else { throw EngineIOError(.forbidden, message: "Server is full") }
        session.start(delegate: self.makeDelegate(session))
        return session
    }

    func forget(_ session: EngineIOSession) {
        self.state.withLockedValue { state in
            state.sessions[session.id] = nil
            state.leaving[session.id] = nil
        }
    }

    /// The session is closed, and is to be found for one more poll.
    func keepForFarewell(_ session: EngineIOSession) {
        self.state.withLockedValue { state in
            let session = state.sessions.removeValue(forKey: session.id)
            guard let session, state.leaving.count < self.configuration.maximumClients else { return }
            state.leaving[session.id] = session
        }
    }

    /// Takes no more sessions and closes those that are open.
    package func shutdown() async {
        let sessions = self.state.withLockedValue { state in
            state.isShuttingDown = true
            return Array(state.sessions.values)
        }
        for session in sessions {
            try? await session.eventLoop.submit { session.close(.serverShuttingDown) }.get()
        }
    }

    /// 15 random bytes in base64url: 20 characters, as the reference server's ids.
    private static func makeSessionID() -> String { EngineIOID.random() }
}

/// Identifiers that cannot be guessed.
package enum EngineIOID {
    /// 15 random bytes in base64url: 20 characters.
    package static func random() -> String {
        let bytes = SymmetricKey(size: .init(bitCount: 120)).withUnsafeBytes { Data($0) }
        return bytes.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    }
}
