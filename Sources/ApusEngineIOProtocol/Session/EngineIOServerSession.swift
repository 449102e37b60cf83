import ApusBytes
import DequeModule
package import NIOCore

/// The server's side of one session: its transport, its packets queued for the next poll, and its
/// upgrade.
///
/// A session begins on polling or on WebSocket. A polling session may upgrade once:
///
///     polling ──probe opened──▶ polling + probe ──"2probe"──▶ probed ──"5"──▶ webSocket
///        ▲                            │ anything else, or the upgrade timeout
///        └────────────────────────────┘   (the probe is closed, the session continues)
///
/// Until the client's `5`, polling carries all packets.
///
/// Source: Engine.IO protocol v4, "Transports" and "Upgrade"; Node's engine.io where the document
/// specifies nothing.
package struct EngineIOServerSession {
    enum Probe {
        case none
        /// A WebSocket with this session's id is open and has sent nothing. Transitions to `probed`
        /// or `none`.
        case opened
        /// `2probe` was answered. Transitions to `none` (upgrade complete, or probe closed).
        case probed
    }

    enum State {
        /// Transitions to `webSocket` (upgrade) or `closed`.
        case polling(Polling)
        case webSocket
        /// This side closed the session, and the remaining packets await the client's next poll, or
        /// the end of its upgrade. Transitions to `closed`.
        case closing(Closing)
        /// Final.
        case closed
        case modifying

        var isWebSocket: Bool {
            switch self {
            case .webSocket: true
            case .polling, .closing, .closed, .modifying: false
            }
        }
    }

    struct Closing {
        var packets: Deque<EngineIOPacket>
        /// Whether the server has sent `3probe`, after which the client stops polling.
        var isProbed: Bool
    }

    struct Polling {
        var queue: Deque<EngineIOPacket> = []
        var queuedBytes = 0
        var pollIsHeld = false
        var probe = Probe.none

        mutating func takeQueue(most maximum: Int) -> [EngineIOPacket] {
            // Uses `map` instead of `Array(…)`, for which ThreadSanitizer reports a race.
            let packets = self.queue.prefix(maximum).map { $0 }
            self.queue.removeFirst(packets.count)
            self.queuedBytes -= packets.reduce(0) { $0 + $1.queuedBytes }
            return packets
        }
    }

    var state: State {
        didSet { self.isOnWebSocket = self.state.isWebSocket }
    }
    /// Whether a WebSocket carries the session.
    ///
    /// The property is stored, because it is read for every message: computing it from another
    /// module would copy the whole state.
    package private(set) var isOnWebSocket: Bool
    /// The codec of single packets, for the client's protocol version.
    package let codec: EngineIOPacketCodec
    let maximumQueuedBytes: Int
    let maximumPacketsPerAnswer: Int

    /// - Parameters:
    ///   - version: The client's protocol version.
    ///   - transport: The transport of the handshake request.
    ///   - maximumQueuedBytes: The maximum size of the queue for the next poll. Above this size,
    ///     the session closes with `transport error`.
    ///   - maximumPacketsPerAnswer: The maximum number of packets in the answer to a poll.
    package init(version: EngineIOVersion, transport: EngineIOTransport, maximumQueuedBytes: Int, maximumPacketsPerAnswer: Int) {
        self.codec = EngineIOPacketCodec(version: version)
        self.maximumPacketsPerAnswer = maximumPacketsPerAnswer
        self.maximumQueuedBytes = maximumQueuedBytes
        switch transport {
        case .polling: self.state = .polling(Polling())
        case .webSocket: self.state = .webSocket
        }
        self.isOnWebSocket = self.state.isWebSocket
    }

    package var isClosed: Bool {
        switch self.state {
        case .closed, .closing: true
        case .polling, .webSocket, .modifying: false
        }
    }

    /// Whether a closed session has packets left for the next poll.
    package var hasClosingPackets: Bool {
        if case .closing = self.state { true } else { false }
    }

    /// Whether the client of a closed session may complete its upgrade to receive the last packets.
    package var awaitsUpgrade: Bool {
        if case .closing(let closing) = self.state { closing.isProbed } else { false }
    }

    /// Whether packets are queued for the next poll.
    package var hasQueue: Bool {
        switch self.state {
        case .polling(let polling): !polling.queue.isEmpty
        case .closing: true
        case .webSocket, .closed, .modifying: false
        }
    }

    /// The size of the packets queued for the next poll, in bytes.
    package var queuedBytes: Int {
        switch self.state {
        case .polling(let polling): polling.queuedBytes
        case .webSocket, .closing, .closed, .modifying: 0
        }
    }

    package var transport: EngineIOTransport? {
        switch self.state {
        case .polling: .polling
        case .webSocket: .webSocket
        case .closed, .closing, .modifying: nil
        }
    }

    // MARK: Polling

    package enum PollAction: Equatable {
        /// Answer this request now.
        case respond([EngineIOPacket])
        /// Hold the request until a packet is sent.
        case hold
        /// The request violates the protocol: respond with 400. If `close` is not `nil`, the
        /// session ends.
        case refuse(close: EngineIOCloseReason?, answerHeldPoll: [EngineIOPacket])
    }

    /// Handles a GET request of this session.
    package mutating func receivedPoll() -> PollAction {
        switch exchange(&self.state, with: .modifying) {
        case .polling(var polling):
            guard !polling.pollIsHeld else {
                // A session has at most one concurrent GET (Engine.IO protocol v4, "HTTP
                // long-polling").
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
        case .closing(let closing):
            return .respond(self.takeClosingPackets(closing, most: self.maximumPacketsPerAnswer))
        case .closed, .modifying:
            self.state = .closed
            return .refuse(close: nil, answerHeldPoll: [])
        }
    }

    /// Handles the close of a held poll's connection. Returns the reason if this ends the session;
    /// `nil` if it does not.
    package mutating func heldPollClosed() -> EngineIOCloseReason? {
        guard case .polling(let polling) = self.state, polling.pollIsHeld else { return nil }
        self.state = .closed
        return .transportClose
    }

    // MARK: Packets in

    package enum ReceivedAction: Equatable {
        case deliver(EngineIOMessage)
        /// The answer to this side's ping.
        case receivedPong
        /// The client's heartbeat. Answer with a pong of the same payload.
        case receivedPing(ByteBuffer)
        /// The session ends. Answer a held poll with these packets first.
        case closeSession(EngineIOCloseReason, answerHeldPoll: [EngineIOPacket])
        case ignore
    }

    /// Handles a message received on the WebSocket that carries the session (``isOnWebSocket``).
    ///
    /// The method is inlined and handles the common case first: most messages are text, in the same
    /// form in all versions.
    ///
    /// - Throws: ``EngineIOError/Code/malformedPacket`` if it is not a valid packet.
    @inlinable
    package mutating func received(frame: EngineIOMessage) throws(EngineIOError) -> ReceivedAction {
        assert(self.isOnWebSocket)
        if case .text(let text) = frame, let message = EngineIOPacketCodec.textMessage(in: text) {
            return .deliver(.text(message))
        }
        return self.received(try self.codec.decode(frame))
    }

    /// Handles a packet received on the session's transport.
    package mutating func received(_ packet: EngineIOPacket) -> ReceivedAction {
        guard !self.isClosed else { return .ignore }
        switch packet {
        case .message(let message): return .deliver(message)
        case .pong where self.codec.version.heartbeatSender == .server: return .receivedPong
        case .ping(let payload) where self.codec.version.heartbeatSender == .client: return .receivedPing(payload)
        case .close:
            // The client's POST closed the session: its held poll ends with a noop and status 200.
            return .closeSession(.transportClose, answerHeldPoll: self.close() ? [.noop] : [])
        case .ping, .pong, .open, .upgrade:
            // These packets are not valid from a client: an open packet, a heartbeat packet of the
            // server's direction, and an upgrade outside a probe.
            return .closeSession(.parseError, answerHeldPoll: self.close() ? [.close] : [])
        case .noop: return .ignore
        }
    }
}

extension EngineIOServerSession {
    package enum SendAction: Equatable {
        case write
        /// Answer the held poll with these packets.
        case answerHeldPoll([EngineIOPacket])
        case queued
        /// The queue exceeds its limit; the session is closed.
        case closeSession(EngineIOCloseReason)
        case drop
    }

    package mutating func send(_ packet: EngineIOPacket) -> SendAction {
        switch exchange(&self.state, with: .modifying) {
        case .webSocket:
            self.state = .webSocket
            return .write
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
        case .closing(let closing):
            self.state = .closing(closing)
            return .drop
        case .closed, .modifying:
            self.state = .closed
            return .drop
        }
    }

    /// Removes and returns the queued packets that fit in an answer that already has `packets`
    /// packets.
    package mutating func takeQueue(after packets: Int) -> [EngineIOPacket] {
        if case .closing(let waiting) = self.state {
            guard packets == 0 || waiting.packets.count > 1 else { return [] }
            return self.takeClosingPackets(waiting, most: max(0, self.maximumPacketsPerAnswer - packets))
        }
        // The payload is moved out of the state, so that the queue is changed in place.
        let state = exchange(&self.state, with: .modifying)
        guard case .polling(var polling) = state else {
            self.state = state
            return []
        }
        let taken = polling.takeQueue(most: max(0, self.maximumPacketsPerAnswer - packets))
        self.state = .polling(polling)
        return taken
    }

    package enum CloseAction: Equatable {
        /// Answer the held poll with these packets, the last of the session.
        case answerHeldPoll([EngineIOPacket])
        /// The client receives the queued packets with its next poll, or with its upgrade if it was
        /// probed. If neither happens in time, call ``close()``.
        case waitForPoll
        /// No packet is queued. On a WebSocket all packets have been written.
        case done
    }

    /// Closes the session after the packets sent so far.
    package mutating func closeInOrder() -> CloseAction {
        switch exchange(&self.state, with: .closed) {
        case .polling(let polling) where polling.pollIsHeld:
            return .answerHeldPoll([.close])
        case .polling(let polling):
            var isProbed = false
            if case .probed = polling.probe { isProbed = true }
            self.state = .closing(Closing(packets: polling.queue + [.close], isProbed: isProbed))
            return .waitForPoll
        case .webSocket, .closing, .closed, .modifying:
            return .done
        }
    }

    /// Removes and returns the next packets of a closing session. The last packet, the close, is
    /// sent in a separate answer.
    ///
    /// The JavaScript client handles a close packet immediately, but delivers the packets before it
    /// one turn later. In one answer, the close would overtake Socket.IO's DISCONNECT, and the
    /// client would reconnect after a "transport close".
    mutating func takeClosingPackets(_ closing: Closing, most maximum: Int) -> [EngineIOPacket] {
        let count = closing.packets.count > 1 ? min(maximum, closing.packets.count - 1) : 1
        var rest = closing
        rest.packets.removeFirst(min(count, rest.packets.count))
        self.state = rest.packets.isEmpty ? .closed : .closing(rest)
        return Array(closing.packets.prefix(count))
    }

    /// Closes the session immediately. Returns whether a poll is held, which the caller has to
    /// answer.
    package mutating func close() -> Bool {
        guard case .polling(let polling) = exchange(&self.state, with: .closed) else { return false }
        return polling.pollIsHeld
    }
}

extension EngineIOServerSession {
    /// Handles a WebSocket that was opened with this session's id. Returns whether it is accepted
    /// as a probe.
    package mutating func probeOpened() -> Bool {
        guard case .polling(var polling) = self.state, case .none = polling.probe else { return false }
        polling.probe = .opened
        self.state = .polling(polling)
        return true
    }

    package enum ProbeAction: Equatable {
        /// Send `3probe` on the probe. If `noopToHeldPoll` is `true`, answer the held poll with a
        /// noop.
        case answerProbe(noopToHeldPoll: Bool)
        /// The WebSocket carries the session now. Send `flush` on it. If `noopToHeldPoll` is
        /// `true`, answer the held poll with a noop.
        case completeUpgrade(flush: [EngineIOPacket], noopToHeldPoll: Bool)
        /// The client of a closed session has upgraded. Send the last packets on the WebSocket, and
        /// close it.
        case completeClosing(flush: [EngineIOPacket])
        /// Close the probe. The session continues on polling.
        case closeProbe
    }

    /// Handles a packet received on the probe.
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
                return .completeUpgrade(flush: Array(polling.queue), noopToHeldPoll: polling.pollIsHeld)
            case (.opened, _), (.probed, _), (.none, _):
                polling.probe = .none
                self.state = .polling(polling)
                return .closeProbe
            }
        case .webSocket:
            self.state = .webSocket
            return .closeProbe
        case .closing(var closing):
            if closing.isProbed, case .upgrade = packet {
                self.state = .closed
                // A WebSocket ends with a Close frame, not with a close packet.
                return .completeClosing(flush: Array(closing.packets.dropLast()))
            }
            closing.isProbed = false
            self.state = .closing(closing)
            return .closeProbe
        case .closed, .modifying:
            self.state = .closed
            return .closeProbe
        }
    }

    /// Handles the close of the probe, or a malformed packet on it, before the upgrade was
    /// complete.
    package mutating func probeClosed() {
        switch exchange(&self.state, with: .modifying) {
        case .polling(var polling):
            polling.probe = .none
            self.state = .polling(polling)
        case .closing(var closing):
            closing.isProbed = false
            self.state = .closing(closing)
        case .webSocket: self.state = .webSocket
        case .closed, .modifying: self.state = .closed
        }
    }

    package enum DeadlineAction: Equatable {
        /// Close the probe. The session continues on polling.
        case closeProbe
        case doNothing
    }

    /// Handles the expiry of the upgrade's time limit, which begins with ``probeOpened()``.
    package mutating func upgradeDeadlinePassed() -> DeadlineAction {
        guard case .polling(let polling) = self.state else { return .doNothing }  // upgraded or closed
        switch polling.probe {
        case .none: return .doNothing  // the probe was closed
        case .opened, .probed:
            self.probeClosed()
            return .closeProbe
        }
    }

    package enum UpgradeTimerAction: Equatable {
        /// Start the timer again. If `noopToHeldPoll` is `true`, answer the held poll with a noop.
        case restart(noopToHeldPoll: Bool)
        case doNothing
    }

    /// Handles the upgrade timer, which ends held polls about every 100 ms after `3probe`, until
    /// the upgrade ends: a client may poll once more before it pauses.
    package mutating func upgradeTimerFired() -> UpgradeTimerAction {
        guard case .polling(var polling) = self.state, case .probed = polling.probe else { return .doNothing }  // the upgrade has ended
        let isHeld = exchange(&polling.pollIsHeld, with: false)
        if isHeld { self.state = .polling(polling) }
        return .restart(noopToHeldPoll: isHeld)
    }
}
