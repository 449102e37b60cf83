import DequeModule
import NIOCore

extension EngineIOServerSession {
    package enum SendAction: Equatable {
        case writeToWebSocket
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
        case .closing(let packets):
            self.state = .closing(packets)
            return .drop
        case .closed, .modifying:
            self.state = .closed
            return .drop
        }
    }

    /// Removes and returns the queued packets that may join an answer of `packets` packets.
    package mutating func takeQueue(after packets: Int) -> [EngineIOPacket] {
        if case .closing(let waiting) = self.state {
            guard packets == 0 || waiting.count > 1 else { return [] }
            return self.takeClosingPackets(waiting, most: max(0, self.maximumPacketsPerAnswer - packets))
        }
        // Moved out of the state, so that the queue is changed in place.
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
        /// The next poll fetches the queued packets. If no poll arrives in time, call ``close()``.
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
            self.state = .closing(polling.queue + [.close])
            return .waitForPoll
        case .webSocket, .closing, .closed, .modifying:
            return .done
        }
    }

    /// Removes and returns the next packets of a closing session. The last packet, the close, is
    /// sent in an answer of its own.
    ///
    /// The JavaScript client handles a close packet at once but delivers the packets before it one
    /// turn later. In one answer, the close would overtake Socket.IO's DISCONNECT, and the client
    /// would reconnect after a "transport close".
    mutating func takeClosingPackets(_ packets: Deque<EngineIOPacket>, most maximum: Int) -> [EngineIOPacket] {
        let count = packets.count > 1 ? min(maximum, packets.count - 1) : 1
        var rest = packets
        rest.removeFirst(min(count, rest.count))
        self.state = rest.isEmpty ? .closed : .closing(rest)
        return Array(packets.prefix(count))
    }

    /// Closes the session at once. Returns whether a poll is held, which the caller has to answer.
    package mutating func close() -> Bool {
        guard case .polling(let polling) = exchange(&self.state, with: .closed) else { return false }
        return polling.pollIsHeld
    }
}

extension EngineIOPacket {
    /// The size of the payload in bytes.
    package var byteCount: Int { self.queuedBytes - 16 }

    /// The size of the packet in a queue: its payload and a fixed overhead of 16 bytes.
    var queuedBytes: Int {
        switch self {
        case .message(.text(let buffer)), .message(.binary(let buffer)), .ping(let buffer), .pong(let buffer): buffer.readableBytes + 16
        case .open, .close, .upgrade, .noop: 16
        }
    }
}
