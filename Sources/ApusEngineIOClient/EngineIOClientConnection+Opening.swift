import ApusBytes
import ApusEngineIOProtocol
import Logging
import NIOCore

/// Opening a session: transport, version, and what to try after a failure.
extension EngineIOClientConnection {
    /// Starts the first attempt. Call once.
    package func start() {
        self.eventLoop.preconditionInEventLoop()
        self.startOpenTimer()
        guard let prepare = self.configuration.prepareAttempt else { return self.requestSession() }
        let box = NIOLoopBound(self, eventLoop: self.eventLoop)
        let given = self.attempt
        // Owned by `preparation`, which `end(_:)` cancels.
        self.preparation = Task { [eventLoop = self.eventLoop] in
            let result: Result<EngineIOClientConfiguration.Attempt, any Error>
            do {
                var attempt = given
                try await prepare(&attempt)
                result = .success(attempt)
            } catch {
                result = .failure(error)
            }
            eventLoop.execute { box.value.prepared(result) }
        }
    }

    private func prepared(_ result: Result<EngineIOClientConfiguration.Attempt, any Error>) {
        self.preparation = nil
        guard !self.session.isClosed else { return }
        do {
            let attempt = try result.get()
            var address = try EngineIOClientAddress(self.url, attempt: attempt, version: self.configuration.version)
            address.version = self.version
            self.attempt = attempt
            self.address = address
            self.requestSession()
        } catch {
            self.finish(
                error as? EngineIOError
                    ?? EngineIOError(.connectionRefused, message: "`prepareAttempt` failed", cause: error))
        }
    }

    private func startOpenTimer() {
        self.openTimer?.cancel()
        self.openTimer = self.schedule(in: self.configuration.timeout) { connection in
            let error = EngineIOError(.timeout, message: "the session did not open within \(connection.configuration.timeout)")
            // While the attempt is being prepared no transport was tried, so that trying another is
            // of no use.
            guard connection.preparation == nil, connection.retryOnNextTransport(after: error) else { return connection.finish(error) }
        }
    }

    private func requestSession() {
        switch self.plan.transport {
        case .polling: self.poll()
        case .webSocket: self.openWebSocket(sid: nil)
        }
    }

    /// Retries with version 3 if the server refused the first request in version 4. Returns `false`
    /// if not applicable.
    func retryWithOlderVersion(after error: EngineIOError) -> Bool {
        guard self.handshake == nil, self.configuration.version == .automatic, self.version == .v4, !self.session.isClosed,
            error.code == .unsupportedVersion || error.code == .badRequest
        else { return false }
        self.speak(.v3)
        self.requestSession()
        return true
    }

    /// Retries on the next transport. Returns `false` if there is none.
    func retryOnNextTransport(after error: EngineIOError) -> Bool {
        guard self.handshake == nil, !self.session.isClosed, self.plan.failed() else { return false }
        self.logger.debug("Trying the next transport", metadata: ["engineio.reason": "\(error)"])
        self.dropWebSocket()
        self.polling.cancel()
        self.polling = EngineIOPollingTransport(eventLoop: self.eventLoop, origin: self.address.origin, configuration: self.configuration)
        self.session = self.plan.session
        self.startOpenTimer()
        self.requestSession()
        return true
    }

    /// Switches to another protocol version.
    func speak(_ version: EngineIOVersion) {
        self.version = version
        self.address.version = version
        self.packets = EngineIOPacketCodec(version: version)
        self.payloads = EngineIOPayloadCodec(version: version, maximumPackets: Self.maximumPackets)
    }

    func opened(_ handshake: EngineIOHandshake, probe: Bool) {
        self.logger.debug(
            "Session opened",
            metadata: ["engineio.transport": "\(self.plan.transport.rawValue)", "engineio.version": "\(self.version.number)"])
        self.openTimer?.cancel()
        self.handshake = handshake
        if self.plan.transport == .webSocket { self.memory.webSocketVersion = self.version }
        let heartbeat = handshake.clientHeartbeat(self.version)
        self.heartbeat = heartbeat
        self.startHeartbeatTimer(after: heartbeat.firstTimer)
        self.delegate?.engineOpened(self, handshake: handshake)
        if probe, !self.session.isClosed { self.probe(sid: handshake.sid) }
    }

    /// Returns the header fields of a request of this attempt, cookies included.
    func headers(for target: String) -> [(String, String)] {
        var headers = self.attempt.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let place = headers.firstIndex { $0.0.equalsIgnoringASCIICase("cookie") }
        let field = place.map { headers.remove(at: $0).1 }
        if let cookies = self.memory.cookies(for: self.address, target: target, given: self.configuration.cookies, field: field) {
            headers.append(("Cookie", cookies))
        }
        return headers
    }
}
