import ApusConnectivity
import ApusWebSocketProtocol
import NIOCore

/// What makes a connection wait with the messages it has read, and with reading more.
struct WebSocketReadPauses: OptionSet {
    let rawValue: UInt8

    /// The delegate takes no more.
    static let delegate = Self(rawValue: 1)
    /// The peer has not taken what is queued for it.
    static let output = Self(rawValue: 2)
    /// Frames that were read wait.
    static let held = Self(rawValue: 4)
}

/// The frames of a read that wait: the turn of the event loop is full, or the peer does not take what it was sent.
///
/// A peer whose messages wait is not read. What was read stays here, undecoded but for the first frames.
struct WebSocketHeldFrames {
    var frames: WebSocketFrameBatch
    /// What is wrong with the bytes after the frames.
    var failure: WebSocketError?
    var undecoded: ByteBuffer

    var byteCount: Int { self.frames.byteCount + self.undecoded.readableBytes }
}

extension WebSocketHandler {
    // MARK: Pausing

    /// Whether the peer is not read, for whatever reason.
    package var readingIsPaused: Bool { !self.readPauses.isEmpty }

    /// Makes the peer wait, or not any longer. What has been read goes to the delegate all the same.
    package func setReading(paused: Bool) {
        self.set(.delegate, paused)
        if !paused { self.resumeLater() }
    }

    func set(_ pause: WebSocketReadPauses, _ isSet: Bool) {
        let wasEmpty = self.readPauses.isEmpty
        if isSet { self.readPauses.insert(pause) } else { self.readPauses.remove(pause) }
        guard wasEmpty != self.readPauses.isEmpty else { return }
        // Fails when the channel is gone, and then there is nothing to read.
        try? self.channel?.syncOptions?.setOption(.autoRead, value: !wasEmpty)
    }

    // MARK: Holding

    /// Whether the next frame has to wait.
    @inline(__always)
    var mustHold: Bool {
        guard self.buffers.turn.isFull || !self.isWritable || self.outboundBytes > self.buffers.queueLowMark else { return false }
        return self.buffers.turn.isFull || self.queueIsAboveMark
    }

    private var queueIsAboveMark: Bool { self.machine.isOpen && self.context != nil && self.queuedBytes > self.buffers.queueLowMark }

    /// Keeps what was read.
    ///
    /// - Parameters:
    ///   - frames: The frames that were found, the next one first.
    ///   - failure: What is wrong with the bytes after them.
    ///   - bytes: The bytes after them.
    func hold(_ frames: WebSocketFrameBatch, _ failure: WebSocketError?, _ bytes: ByteBuffer) {
        var undecoded = ByteBuffer()
        undecoded.writeImmutableBuffer(bytes)  // a copy: the buffer is the event loop's
        let extras = self.makeExtras()
        extras.eventLoop = self.context?.eventLoop ?? extras.eventLoop
        extras.held = WebSocketHeldFrames(frames: frames, failure: failure, undecoded: undecoded)
        self.isHolding = true
        self.set(.held, true)
        if self.queueIsAboveMark, !self.buffers.turn.isFull {
            extras.queueAtLastLook = self.queuedBytes
            self.set(.output, true)
        } else {
            self.resumeLater()
        }
    }

    /// Bytes came all the same: those of a TLS record, or what is read up to the peer's end.
    func hold(_ bytes: ByteBuffer) {
        _ = self.extras?.held?.undecoded.writeImmutableBuffer(bytes)
    }

    func dropHeldFrames() {
        guard self.isHolding else { return }
        self.isHolding = false
        self.extras?.held = nil
        self.set([.held, .output], false)
        self.countUnfinished()
    }

    // MARK: Resuming

    /// Resumes the held frames in a later turn, if nothing else makes them wait.
    func resumeLater() {
        guard self.isHolding, !self.isPutOff, self.hasEnded || self.readPauses == .held, let eventLoop = self.extras?.eventLoop
        else { return }
        self.isPutOff = true
        self.buffers.turn.putOff(self, isLight: !self.sendsMuch, on: eventLoop)
    }

    /// The queue has changed: the peer may have taken enough.
    func queueChanged() {
        self.countQueue()
        guard self.readPauses.contains(.output), self.isWritable, self.outboundBytes <= self.buffers.queueLowMark else { return }
        self.set(.output, false)
        self.resumeLater()
    }

    /// Whether the peer, whose messages wait because of what is queued for it, has taken some of that since this was last asked.
    package var isDraining: Bool {
        guard self.readPauses.contains(.output), let extras else { return false }
        let queued = self.queuedBytes
        defer { extras.queueAtLastLook = queued }
        return queued < extras.queueAtLastLook
    }
}

extension WebSocketHandler: EventLoopWorker {
    package func resumeWork() {
        self.isPutOff = false
        guard let delegate = self.delegate, let held = self.extras?.held, self.hasEnded || self.readPauses == .held else { return }
        self.isHolding = false
        self.extras?.held = nil
        self.isReading = true
        self.work(through: held, telling: delegate)
        self.completeRead()
        if self.hasEnded {
            if !self.isHolding { self.transportEnded(cause: nil) }
        } else if !self.isHolding {
            self.set(.held, false)
        }
    }
}

// MARK: Budgets

extension WebSocketHandler {
    /// The read is over: what of it is not complete counts.
    func countUnfinished() {
        let bytes = self.machine.unfinishedBytes + (self.isHolding ? self.extras?.held?.byteCount ?? 0 : 0)
        guard bytes >= ByteAccount.grain || self.extras?.unfinished.isEmpty == false, let budgets = self.buffers.budgets else { return }
        self.makeExtras().unfinished.set(bytes, in: budgets.unfinished, for: self) { self.closer }
    }

    /// What waits for a peer that lags.
    private func countQueue() {
        let bytes = self.isWritable || self.context == nil ? 0 : self.queuedBytes
        guard bytes >= ByteAccount.grain || self.extras?.queued.isEmpty == false, let budgets = self.buffers.budgets else { return }
        self.makeExtras().queued.set(bytes, in: budgets.queued, for: self) { self.closer }
    }

    /// The transport has gone, with all that it held.
    func countNothing() {
        guard let extras, let budgets = self.buffers.budgets else { return }
        extras.unfinished.set(0, in: budgets.unfinished, for: self) { {} }
        extras.queued.set(0, in: budgets.queued, for: self) { {} }
    }

    /// Closes the connection, which holds more than the others when all hold too much.
    private var closer: @Sendable () -> Void {
        guard let eventLoop = self.context?.eventLoop else { return {} }
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        return {
            eventLoop.execute {
                handler.value.abort(
                    WebSocketError(.queueFull, message: "the connections of the server hold more bytes than they may together"))
            }
        }
    }
}
