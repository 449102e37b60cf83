package import NIOCore

/// One client's session as the server sees it: which transport carries it, what waits for the next poll, how it upgrades.
///
/// A session begins on polling or on WebSocket. A polling session may upgrade once:
///
///     polling ──probe opened──▶ polling + probe ──"2probe"──▶ probed ──"5"──▶ webSocket
///        ▲                            │ anything else, or the upgrade timeout
///        └────────────────────────────┘   (the probe is closed, the session goes on)
///
/// Until the client's `5` every packet still travels by polling.
///
/// Source: Engine.IO protocol v4, "Transports" and "Upgrade"; the reference server for what the document leaves open.
package struct EngineIOServerSession {
    private enum Probe {
        case none
        /// A WebSocket with this session's id is open and silent. Leaves to `probed` or `none`.
        case opened
        /// `2probe` was answered. Leaves to `none` (upgrade done, or the probe is gone).
        case probed
    }

    private enum State {
        /// Leaves to `webSocket` (upgrade) or `closed`.
        case polling(Polling)
        case webSocket
        /// We closed, and what was sent before waits for the client's next poll. Leaves to `closed`.
        case farewell([EngineIOPacket])
        /// Final.
        case closed
        case modifying
    }

    private struct Polling {
        var queue: [EngineIOPacket] = []
        var queuedBytes = 0
        var pollIsHeld = false
        var probe = Probe.none

        mutating func takeQueue(most maximum: Int) -> [EngineIOPacket] {
            let packets = Array(self.queue.prefix(maximum))
            self.queue.removeFirst(packets.count)
            self.queuedBytes -= packets.reduce(0) { $0 + $1.queuedBytes }
            return packets
        }
    }

    private var state: State
    private let version: EngineIOVersion
    private let maximumQueuedBytes: Int
    private let maximumPacketsPerAnswer: Int

    /// - Parameters:
    ///   - version: What the client speaks.
    ///   - transport: The transport of the handshake request.
    ///   - maximumQueuedBytes: The bound on what waits for a poll. Over it the session closes with `transport error`.
    ///   - maximumPacketsPerAnswer: The most packets that one poll brings; the rest waits for the next.
    package init(version: EngineIOVersion, transport: EngineIOTransport, maximumQueuedBytes: Int, maximumPacketsPerAnswer: Int) {
        self.version = version
        self.maximumPacketsPerAnswer = maximumPacketsPerAnswer
        self.maximumQueuedBytes = maximumQueuedBytes
        switch transport {
        case .polling: self.state = .polling(Polling())
        case .webSocket: self.state = .webSocket
        }
    }

    package var isClosed: Bool {
        switch self.state {
        case .closed, .farewell: true
        case .polling, .webSocket, .modifying: false
        }
    }

    /// Whether a closed session still has something to say to the next poll.
    package var hasFarewell: Bool {
        if case .farewell = self.state { true } else { false }
    }

    /// Whether something waits for the next poll.
    package var hasQueue: Bool {
        switch self.state {
        case .polling(let polling): !polling.queue.isEmpty
        case .farewell: true
        case .webSocket, .closed, .modifying: false
        }
    }

    package var transport: EngineIOTransport? {
        switch self.state {
        case .polling: .polling
        case .webSocket: .webSocket
        case .closed, .farewell, .modifying: nil
        }
    }

    // MARK: Polling

    package enum PollAction: Equatable {
        /// Answer this request now.
        case respond([EngineIOPacket])
        /// Keep the request open until there is something to say.
        case hold
        /// The request breaks the protocol: 400. `close` says whether the session ends with it.
        case refuse(close: EngineIOCloseReason?, answerHeldPoll: [EngineIOPacket])
    }

    /// A GET arrived for this session.
    package mutating func receivedPoll() -> PollAction {
        switch exchange(&self.state, with: .modifying) {
        case .polling(var polling):
            guard !polling.pollIsHeld else {
                // "overlapping GETs on one sid close the session"; the pending poll gets a close packet.
                self.state = .closed
                return .refuse(close: .transportError, answerHeldPoll: [.close])
            }
            if polling.queue.isEmpty {
                polling.pollIsHeld = true
                self.state = .polling(polling)
                return .hold
            }
            let packets = polling.takeQueue(most: self.maximumPacketsPerAnswer)
            self.state = .polling(polling)
            return .respond(packets)
        case .webSocket:
            self.state = .webSocket
            return .refuse(close: nil, answerHeldPoll: [])
        case .farewell(let packets):
            return .respond(self.takeFarewell(packets, most: self.maximumPacketsPerAnswer))
        case .closed, .modifying:
            self.state = .closed
            return .refuse(close: nil, answerHeldPoll: [])
        }
    }

    /// The connection of a held poll went away before it was answered. Answers whether the session ends with it.
    package mutating func heldPollClosed() -> EngineIOCloseReason? {
        guard case .polling(let polling) = self.state, polling.pollIsHeld else { return nil }
        self.state = .closed
        return .transportClose
    }

    /// While a probe is answered, polls get a noop about every 100 ms, until the client stops polling.
    ///
    /// Answers whether the held poll is to be answered with a noop now.
    package mutating func upgradeTimerFired() -> Bool {
        guard case .polling(var polling) = self.state, case .probed = polling.probe, polling.pollIsHeld else { return false }
        polling.pollIsHeld = false
        self.state = .polling(polling)
        return true
    }

    /// Whether the upgrade timer is still wanted.
    package var isUpgrading: Bool {
        guard case .polling(let polling) = self.state else { return false }
        switch polling.probe {
        case .opened, .probed: return true
        case .none: return false
        }
    }

    // MARK: Packets in

    package enum ReceivedAction: Equatable {
        case deliver(EngineIOMessage)
        /// The answer to our ping.
        case receivedPong
        /// The client's own heartbeat: answer with a pong of the same payload.
        case receivedPing(ByteBuffer)
        /// The session ends; a held poll is answered with these packets first.
        case closeSession(EngineIOCloseReason, answerHeldPoll: [EngineIOPacket])
        case ignore
    }

    /// A packet arrived by the session's own transport.
    package mutating func received(_ packet: EngineIOPacket) -> ReceivedAction {
        guard !self.isClosed else { return .ignore }
        switch packet {
        case .message(let message): return .deliver(message)
        case .pong where self.version.heartbeatSender == .server: return .receivedPong
        case .ping(let payload) where self.version.heartbeatSender == .client: return .receivedPing(payload)
        case .close:
            // "a poll ended by the client's own close gets `6` with 200"
            return .closeSession(.transportClose, answerHeldPoll: self.close() ? [.noop] : [])
        case .ping, .pong, .open, .upgrade:
            // Only a server opens, a heartbeat has one direction, and an upgrade packet belongs to a probe.
            return .closeSession(.parseError, answerHeldPoll: self.close() ? [.close] : [])
        case .noop: return .ignore
        }
    }

    // MARK: Probe

    /// A WebSocket with this session's id was opened. Answers whether it may stay.
    package mutating func probeOpened() -> Bool {
        guard case .polling(var polling) = self.state, case .none = polling.probe else { return false }
        polling.probe = .opened
        self.state = .polling(polling)
        return true
    }

    package enum ProbeAction: Equatable {
        /// Send `3probe` on the probe; answer the held poll with a noop when there is one.
        case answerProbe(noopToHeldPoll: Bool)
        /// The WebSocket carries the session from here on: send these first, and release the held poll with a noop.
        case completeUpgrade(flush: [EngineIOPacket], noopToHeldPoll: Bool)
        /// Close the probe; the session goes on by polling.
        case closeProbe
    }

    /// A packet arrived on the probe.
    package mutating func receivedOnProbe(_ packet: EngineIOPacket) -> ProbeAction {
        switch exchange(&self.state, with: .modifying) {
        case .polling(var polling):
            switch (polling.probe, packet) {
            case (.opened, .ping(let payload)) where payload.readableBytesView.elementsEqual("probe".utf8):
                polling.probe = .probed
                let held = exchange(&polling.pollIsHeld, with: false)
                self.state = .polling(polling)
                return .answerProbe(noopToHeldPoll: held)
            case (.probed, .upgrade):
                self.state = .webSocket
                return .completeUpgrade(flush: polling.queue, noopToHeldPoll: polling.pollIsHeld)
            case (.opened, _), (.probed, _), (.none, _):
                polling.probe = .none
                self.state = .polling(polling)
                return .closeProbe
            }
        case .webSocket:
            self.state = .webSocket
            return .closeProbe
        case .farewell(let packets):
            self.state = .farewell(packets)
            return .closeProbe
        case .closed, .modifying:
            self.state = .closed
            return .closeProbe
        }
    }

    /// The probe closed, or its time was up, before the upgrade was complete.
    package mutating func probeClosed() {
        guard case .polling(var polling) = self.state else { return }
        polling.probe = .none
        self.state = .polling(polling)
    }

    // MARK: Packets out

    package enum SendAction: Equatable {
        case writeToWebSocket
        /// Answer the held poll with these.
        case answerHeldPoll([EngineIOPacket])
        case queued
        /// The queue is over its bound: the session is closed.
        case closeSession(EngineIOCloseReason)
        case drop
    }

    package mutating func send(_ packet: EngineIOPacket) -> SendAction {
        switch exchange(&self.state, with: .modifying) {
        case .webSocket:
            self.state = .webSocket
            return .writeToWebSocket
        case .polling(var polling):
            if polling.pollIsHeld {
                polling.pollIsHeld = false
                self.state = .polling(polling)
                return .answerHeldPoll([packet])
            }
            polling.queuedBytes += packet.queuedBytes
            guard polling.queuedBytes <= self.maximumQueuedBytes else {
                self.state = .closed
                return .closeSession(.transportError)
            }
            polling.queue.append(packet)
            self.state = .polling(polling)
            return .queued
        case .farewell(let packets):
            self.state = .farewell(packets)
            return .drop
        case .closed, .modifying:
            self.state = .closed
            return .drop
        }
    }

    /// What waits for a poll, to join `packets` in an answer that is about to be written.
    package mutating func takeQueue(after packets: Int) -> [EngineIOPacket] {
        if case .farewell(let waiting) = self.state {
            guard packets == 0 || waiting.count > 1 else { return [] }
            return self.takeFarewell(waiting, most: max(0, self.maximumPacketsPerAnswer - packets))
        }
        guard case .polling(var polling) = self.state else { return [] }
        let packets = polling.takeQueue(most: max(0, self.maximumPacketsPerAnswer - packets))
        self.state = .polling(polling)
        return packets
    }

    package enum CloseAction: Equatable {
        /// Answer the held poll with these, the last ones.
        case answerHeldPoll([EngineIOPacket])
        /// The next poll is to be answered with what waits; if none comes, call ``close()``.
        case waitForPoll
        /// Nothing waits. A WebSocket has what was sent.
        case done
    }

    /// We end the session, and what was sent before is still to arrive.
    package mutating func closeInOrder() -> CloseAction {
        switch exchange(&self.state, with: .closed) {
        case .polling(let polling) where polling.pollIsHeld:
            return .answerHeldPoll([.close])
        case .polling(let polling):
            self.state = .farewell(polling.queue + [.close])
            return .waitForPoll
        case .webSocket, .farewell, .closed, .modifying:
            return .done
        }
    }

    /// The close, always the last, leaves alone. The JavaScript client obeys it at once but hands on the packets before it a turn later: in one
    /// answer, the DISCONNECT that tells it to stay away came too late, and it saw a lost connection instead ("transport close").
    private mutating func takeFarewell(_ packets: [EngineIOPacket], most maximum: Int) -> [EngineIOPacket] {
        let count = packets.count > 1 ? min(maximum, packets.count - 1) : 1
        self.state = packets.count > count ? .farewell(Array(packets.dropFirst(count))) : .closed
        return Array(packets.prefix(count))
    }

    /// Ends the session at once. Answers whether a poll was held (the shell answers it).
    package mutating func close() -> Bool {
        guard case .polling(let polling) = exchange(&self.state, with: .closed) else { return false }
        return polling.pollIsHeld
    }
}

extension EngineIOPacket {
    /// What a packet weighs in a queue: its payload and a little for itself.
    fileprivate var queuedBytes: Int {
        switch self {
        case .message(.text(let buffer)), .message(.binary(let buffer)), .ping(let buffer), .pong(let buffer): buffer.readableBytes + 16
        case .open, .close, .upgrade, .noop: 16
        }
    }
}
