import DequeModule
import NIOCore

extension EngineIOServerSession {
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
        // Out of the state, so that the queue is changed and not copied.
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
    mutating func takeFarewell(_ packets: Deque<EngineIOPacket>, most maximum: Int) -> [EngineIOPacket] {
        let count = packets.count > 1 ? min(maximum, packets.count - 1) : 1
        var rest = packets
        rest.removeFirst(min(count, rest.count))
        self.state = rest.isEmpty ? .closed : .farewell(rest)
        return Array(packets.prefix(count))
    }

    /// Ends the session at once. Answers whether a poll was held (the shell answers it).
    package mutating func close() -> Bool {
        guard case .polling(let polling) = exchange(&self.state, with: .closed) else { return false }
        return polling.pollIsHeld
    }
}

extension EngineIOPacket {
    /// The bytes of the payload.
    package var byteCount: Int { self.queuedBytes - 16 }

    /// What a packet weighs in a queue: its payload and a little for itself.
    var queuedBytes: Int {
        switch self {
        case .message(.text(let buffer)), .message(.binary(let buffer)), .ping(let buffer), .pong(let buffer): buffer.readableBytes + 16
        case .open, .close, .upgrade, .noop: 16
        }
    }
}
