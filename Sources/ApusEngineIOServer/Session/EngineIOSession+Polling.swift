import ApusConnectivity
import ApusEngineIOProtocol
import ApusEventLoop
import Atomics
import NIOCore

extension EngineIOSession {
    /// The maximum number of packets of one POST handled in one turn.
    private static let packetsPerTurn = 100

    // MARK: GET

    /// Answers the handshake of a polling session with the open packet.
    func respondWithOpenPacket(_ responder: EngineIOResponder) {
        let packet = self.openPacket(on: .polling)
        responder.respond(self.payloadCodec.encode([packet], allowsBinary: self.allowsBinary), beginning: self)
        self.hot.delegate?.sessionOpened(self)
    }

    /// Handles a GET. `responder` answers immediately, or when a packet is sent.
    func receivedPoll(_ responder: EngineIOResponder) {
        self.eventLoop.assertInEventLoop()
        switch self.hot.machine.receivedPoll() {
        case .respond(let packets):
            self.answer(responder, packets)
            self.notifyIfDrained()
            self.forgetIfDrained()
        case .hold: self.polling?.heldPoll = responder
        case .refuse(let reason, let packets):
            responder.refuse(EngineIOError(.badRequest, message: "Bad request"))
            if let reason { self.finish(reason, answerHeldPoll: packets) }
        }
    }

    func pollConnectionClosed(_ responder: EngineIOResponder) {
        guard let polling, polling.heldPoll === responder else { return }
        polling.heldPoll = nil
        if let reason = self.hot.machine.heldPollClosed() { self.finish(reason, answerHeldPoll: []) }
    }

    /// Answers the held poll at the end of the turn, so that the packets of one emit (an event and
    /// its attachments) share the answer.
    func answerHeldPollAtEndOfTurn(_ packets: [EngineIOPacket]) {
        guard let responder = self.polling?.heldPoll.take() else { return }
        self.eventLoop.execute {
            self.answer(responder, packets + self.hot.machine.takeQueue(after: packets.count))
            self.notifyIfDrained()
            self.forgetIfDrained()
        }
    }

    func answerHeldPoll(_ packets: [EngineIOPacket]) {
        guard let responder = self.polling?.heldPoll.take() else { return }
        self.answer(responder, packets)
    }

    private func answer(_ responder: EngineIOResponder, _ packets: [EngineIOPacket]) {
        responder.respond(
            self.payloadCodec.encode(packets, allowsBinary: self.allowsBinary), mayCompress: self.polling?.answerMayBeCompressed ?? true)
        self.queueChanged()
        // Packets that are left for the next answer may forbid compression.
        if !self.hot.machine.hasQueue { self.polling?.answerMayBeCompressed = true }
    }

    // MARK: POST

    /// Handles the head of a POST. Returns `false` if another POST is pending, which ends the
    /// session.
    func beginPost() -> Bool {
        guard let polling else { return true }  // the POST will be refused
        return !polling.postIsRunning.exchange(true, ordering: .acquiringAndReleasing)
    }

    func endPost() { self.polling?.postIsRunning.store(false, ordering: .releasing) }

    func receivedOverlappingPost(_ responder: EngineIOResponder) {
        self.eventLoop.assertInEventLoop()
        responder.refuse(EngineIOError(.badRequest, message: "Bad request"))
        self.finish(.transportError, answerHeldPoll: self.hot.machine.close() ? [.close] : [])
    }

    /// Handles a complete POST.
    func receivedPost(_ body: EngineIOPayload, responder: EngineIOResponder) {
        self.eventLoop.assertInEventLoop()
        switch self.hot.machine.transport {
        case .polling: break
        case .webSocket, nil:
            self.endPost()
            return responder.refuse(EngineIOError(.badRequest, message: "Bad request"))
        }
        do {
            self.handle(try self.payloadCodec.decode(body)[...], responder)
        } catch {
            self.endPost()
            // Node's engine.io answers `ok` instead, before it closes the session.
            responder.refuse(error)
            self.closeDetail = "\(error)"
            self.finish(.parseError, answerHeldPoll: self.hot.machine.close() ? [.close] : [])
        }
    }

    /// Handles packets until the turn is full or the client has to poll first.
    private func handle(_ packets: ArraySlice<EngineIOPacket>, _ responder: EngineIOResponder) {
        let turn = self.turn
        let before = turn.deliveries
        var rest = packets
        var left = Self.packetsPerTurn
        while left > 0, !self.hot.machine.isClosed, !turn.isFull, !self.queueIsAboveMark, let packet = rest.popFirst() {
            left -= 1
            self.received(packet)
        }
        guard rest.isEmpty || self.hot.machine.isClosed else {
            self.wait(with: rest, responder)
            if !self.queueIsAboveMark { self.deferWork(isLight: turn.deliveries &- before < EventLoopTurn.lightDeliveries) }
            return
        }
        self.endPost()
        // A POST with an invalid packet is a bad request.
        if self.closeReason == .parseError {
            responder.refuse(EngineIOError(.badRequest, message: "Bad request"))
        } else {
            responder.respondOK()
        }
    }

    private var queueIsAboveMark: Bool { self.hot.machine.queuedBytes > self.server.configuration.effectiveQueueLowMark }

    private func wait(with packets: ArraySlice<EngineIOPacket>, _ responder: EngineIOResponder) {
        var rest = packets
        // Heartbeat packets are handled immediately, even if packets before them wait.
        rest.removeAll { packet in
            switch packet {
            case .ping, .pong:
                self.received(packet)
                return true
            case .open, .close, .message, .upgrade, .noop: return false
            }
        }
        guard !self.hot.machine.isClosed else { return self.handle([], responder) }
        self.polling?.waitingPost = .init(packets: rest, responder: responder)
        self.countWaitingPost()
    }

    /// Resumes the waiting POST, if there is one.
    func resumePost() {
        guard let waiting = self.polling?.waitingPost.take() else { return }
        self.countWaitingPost()
        self.handle(waiting.packets, waiting.responder)
    }

    /// Updates the budget after a change of the queue for polls.
    func queueChanged() {
        guard let polling else { return }
        polling.queued.set(self.hot.machine.queuedBytes, in: self.server.budgets.queued, for: polling) { self.closer }
        if polling.waitingPost != nil, !self.queueIsAboveMark { self.deferWork(isLight: true) }
    }

    private func countWaitingPost() {
        guard let polling else { return }
        let bytes = polling.waitingPost?.packets.reduce(0) { $0 + $1.byteCount } ?? 0
        polling.unfinished.set(bytes, in: self.server.budgets.unfinished, for: polling) { self.closer }
    }
}
