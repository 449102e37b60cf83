import ApusBytes
import ApusEngineIOProtocol
import NIOCore

/// The session over polling: at most one pending GET and one pending POST.
extension EngineIOClientConnection {
    /// The time for network delays, added to the longest time that the server holds a poll.
    private static let pollMargin = Duration.seconds(10)
    private static let longestPoll = Duration.seconds(600)

    func poll() {
        guard !self.polling.isGetPending else { return }
        let timeout: Duration
        if let handshake = self.handshake {
            timeout = min(handshake.pingInterval + handshake.pingTimeout + Self.pollMargin, Self.longestPoll)
        } else {
            timeout = self.configuration.timeout
        }
        let target = self.address.polling(sid: self.handshake?.sid)
        self.polling.get(target, headers: self.headers(for: target), timeout: timeout) { answer in
            self.polled(self.payload(of: answer, target))
        }
    }

    private func payload(of answer: EngineIOClientPollingTransport.Outcome, _ target: String) -> Result<EngineIOPayload, EngineIOError> {
        answer.map { answer in
            if self.configuration.keepsCookies {
                self.memory.received(setCookies: answer.setCookies, from: self.address, target: target)
            }
            return answer.payload
        }
    }

    private func polled(_ result: Result<EngineIOPayload, EngineIOError>) {
        do throws(EngineIOError) {
            let payload = try result.get()
            if self.handshake == nil, self.configuration.version == .automatic { self.speak(payload.versionOfFirstAnswer) }
            for packet in try self.payloads.decode(payload) { self.receivedPacket(packet, over: .polling) }
        } catch {
            self.failed(.polling, error)
            return
        }
        if self.session.mayPoll { self.poll() } else { self.completeUpgradeIfSilent() }
    }

    func post() {
        guard !self.polling.isPostPending, !self.outbox.isEmpty else { return }
        let maximum = self.handshake?.maxPayload ?? 0
        let batch = self.outbox.takeBatch(maximumBytes: maximum > 0 ? maximum : 1_000_000)
        let holdsPong = batch.contains { if case .pong = $0 { true } else { false } }
        if holdsPong { self.pingTime = .now() }
        let target = self.address.polling(sid: self.handshake?.sid)
        self.polling.post(
            self.payloads.encode(batch), to: target, headers: self.headers(for: target), timeout: self.configuration.requestTimeout
        ) { answer in
            let result = self.payload(of: answer, target)
            guard !self.session.isClosed else { return self.closingPostEnded(result) }
            // The body is ignored: Node's engine.io sends `ok`, python-engineio `OK`.
            if case .failure(let error) = result { return self.failed(.polling, error) }
            if holdsPong { self.pongArrived() }
            self.flush()
            self.completeUpgradeIfSilent()
        }
    }

    /// Handles the end of a POST after the session was closed: sends the remaining packets, then
    /// cancels the pending GET.
    private func closingPostEnded(_ result: Result<EngineIOPayload, EngineIOError>) {
        if case .success = result, self.isFlushingClose, !self.outbox.isEmpty { return self.post() }
        self.polling.cancel()
        self.tellDeparture(after: [])
    }
}
