import ApusBytes
import ApusEngineIOProtocol
import HTTPTypes
import Logging
import NIOCore

/// Opening a session: the choice of transport and version, and retries with another transport or
/// version after a failure.
extension EngineIOClientConnection {
    /// Starts the first attempt. Call once.
    package func start() {
        self.eventLoop.preconditionInEventLoop()
        self.startOpenTimer()
        guard let prepare = self.configuration.prepareAttempt else { return self.requestSession() }
        let box = NIOLoopBound(self, eventLoop: self.eventLoop)
        let given = self.attempt
        // The task is stored in `preparation`, which `end(_:)` cancels.
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
            let error = EngineIOError(.timeout, message: "the session was not open within \(connection.configuration.timeout) (`timeout`)")
            // While `prepareAttempt` runs, no transport has been tried, so no transport has failed.
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
    /// if no retry applies.
    func retryWithOlderVersion(after error: EngineIOError) -> Bool {
        guard self.handshake == nil, self.configuration.version == .automatic, self.version == .v4, !self.session.isClosed,
            error.code == .unsupportedVersion || error.code == .badRequest
        else { return false }
        self.speak(.v3)
        self.requestSession()
        return true
    }

    /// Retries on the next transport. Returns `false` if there is none or the session is already
    /// open or closed.
    func retryOnNextTransport(after error: EngineIOError) -> Bool {
        guard self.handshake == nil, !self.session.isClosed, self.plan.failed() else { return false }
        self.logger.debug("Trying the next transport", metadata: ["engineio.reason": "\(error)"])
        self.dropTransports()
        self.polling = EngineIOClientPollingTransport(
            eventLoop: self.eventLoop, origin: self.address.origin, configuration: self.configuration)
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

    func opened(_ handshake: EngineIOHandshake, probe: EngineIOTransport?) {
        self.logger.debug(
            "Session opened",
            metadata: ["engineio.transport": "\(self.plan.transport.rawValue)", "engineio.version": "\(self.version.number)"])
        self.openTimer?.cancel()
        self.handshake = handshake
        if self.plan.transport.isUpgrade { self.memory.lastUpgrade = (self.plan.transport, self.version) }
        let heartbeat = handshake.clientHeartbeat(self.version)
        self.heartbeat = heartbeat
        self.startHeartbeatTimer(after: heartbeat.firstTimer)
        self.delegate?.engineOpened(self, handshake: handshake)
        guard let probe, !self.session.isClosed else { return }
        self.startProbe(of: probe, sid: handshake.sid)
    }

    /// Returns the header fields of a request of this attempt, cookies included.
    func headers(for target: String) -> HTTPFields {
        var headers = self.attempt.headers
        headers[.cookie] = self.memory.cookies(
            for: self.address, target: target, given: self.configuration.cookies, field: headers[.cookie])
        return headers
    }
}
