import ApusEngineIOProtocol
import Logging
import NIOCore

/// From the first request to the session: what is asked on, in which version, and what next when that fails.
extension EngineIOClientConnection {
    /// Begins. Call once.
    package func start() {
        self.eventLoop.preconditionInEventLoop()
        self.startOpenTimer()
        guard let prepare = self.configuration.prepareAttempt else { return self.askForSession() }
        let box = NIOLoopBound(self, eventLoop: self.eventLoop)
        let given = self.attempt
        // Owned by `preparation`, which the end cancels.
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
            self.askForSession()
        } catch {
            self.finish(
                error as? EngineIOError
                    ?? EngineIOError(
                        .connectionRefused, message: "the path, query and fields of the attempt could not be had", cause: error))
        }
    }

    private func startOpenTimer() {
        self.openTimer?.cancel()
        self.openTimer = self.schedule(in: self.configuration.timeout) { connection in
            let error = EngineIOError(.timeout, message: "no session within \(connection.configuration.timeout)")
            // No transport was asked yet while the attempt is prepared: another would do no better.
            guard connection.preparation == nil, connection.triesNextTransport(after: error) else { return connection.finish(error) }
        }
    }

    private func askForSession() {
        switch self.plan.carrier {
        case .polling: self.poll()
        case .webSocket: self.openWebSocket(sid: nil)
        }
    }

    /// Whether the server may want the older version: it refused the first request and we may choose. Asks again if so.
    func triesOlderVersion(after error: EngineIOError) -> Bool {
        guard self.handshake == nil, self.configuration.version == .automatic, self.version == .v4, !self.session.isClosed,
            error.code == .unsupportedVersion || error.code == .badRequest
        else { return false }
        self.speak(.v3)
        self.askForSession()
        return true
    }

    /// Whether there is another transport to ask on. Asks if so.
    func triesNextTransport(after error: EngineIOError) -> Bool {
        guard self.handshake == nil, !self.session.isClosed, self.plan.failed() else { return false }
        self.logger.debug("Trying the next transport", metadata: ["engineio.reason": "\(error)"])
        self.dropWebSocket()
        self.polling.cancel()
        self.polling = EngineIOPollingTransport(eventLoop: self.eventLoop, origin: self.address.origin, configuration: self.configuration)
        self.session = self.plan.session
        self.startOpenTimer()
        self.askForSession()
        return true
    }

    /// Speaks another version from now on.
    func speak(_ version: EngineIOVersion) {
        self.version = version
        self.address.version = version
        self.packets = EngineIOPacketCodec(version: version)
        self.payloads = EngineIOPayloadCodec(version: version, maximumPackets: Self.maximumPackets)
    }

    func opened(_ handshake: EngineIOHandshake, probe: Bool) {
        self.logger.debug(
            "Session opened", metadata: ["engineio.transport": "\(self.plan.carrier)", "engineio.version": "\(self.version.number)"])
        self.openTimer?.cancel()
        self.handshake = handshake
        if self.plan.carrier == .webSocket { self.memory.webSocketVersion = self.version }
        let heartbeat = handshake.clientHeartbeat(self.version)
        self.heartbeat = heartbeat
        self.startHeartbeatTimer(after: heartbeat.firstTimer)
        self.delegate?.engineOpened(self, handshake: handshake)
        if probe, !self.session.isClosed { self.probe(sid: handshake.sid) }
    }
}
