import ApusConnectivity
import ApusEventLoop
import ApusWebSocketProtocol
import NIOCore

/// The reasons for which a connection stops reading, and stops handling the messages that it has
/// read.
struct WebSocketReadPauses: OptionSet {
    let rawValue: UInt8

    /// The delegate accepts no more messages.
    static let delegate = Self(rawValue: 1)
    /// Too many bytes are queued for the peer.
    static let output = Self(rawValue: 2)
    /// Frames that were read are held.
    static let held = Self(rawValue: 4)
}

/// The frames of a read that are held because the turn is full (``EventLoopTurn``) or too many
/// bytes are queued for the peer.
///
/// Until the held frames are handled, the connection does not read. The bytes after the decoded
/// frames are held undecoded.
struct WebSocketHeldFrames {
    var frames: WebSocketFrameBatch
    /// The error in the bytes after the frames.
    var failure: WebSocketError?
    var undecoded: ByteBuffer

    var byteCount: Int { self.frames.byteCount + self.undecoded.readableBytes }
}

extension WebSocketHandler {
    // MARK: Pausing

    /// Whether reading from the peer is paused, for any reason.
    package var readingIsPaused: Bool { !self.readPauses.isEmpty }

    /// Pauses or resumes reading. The read in progress is still delivered.
    package func setReading(paused: Bool) {
        self.set(.delegate, paused)
        if !paused { self.resumeLater() }
    }

    func set(_ pause: WebSocketReadPauses, _ isSet: Bool) {
        let wasEmpty = self.readPauses.isEmpty
        if isSet { self.readPauses.insert(pause) } else { self.readPauses.remove(pause) }
        guard wasEmpty != self.readPauses.isEmpty else { return }
        // Fails if the channel is closed; a closed channel does not read.
        try? self.channel?.syncOptions?.setOption(.autoRead, value: !wasEmpty)
    }

    // MARK: Holding

    /// Whether the next frame must be held.
    @inline(__always)
    var mustHold: Bool {
        guard self.buffers.turn.isFull || !self.hot.isWritable || self.outboundBytes > self.buffers.queueLowMark else { return false }
        return self.buffers.turn.isFull || self.queueIsAboveMark
    }

    private var queueIsAboveMark: Bool {
        self.hot.endpoint.machine.isOpen && self.hot.context != nil && self.queuedBytes > self.buffers.queueLowMark
    }

    /// Holds the unhandled part of a read.
    ///
    /// - Parameters:
    ///   - frames: The decoded frames, the next one first.
    ///   - failure: The error in the bytes after the frames.
    ///   - bytes: The bytes after the frames.
    func hold(_ frames: WebSocketFrameBatch, _ failure: WebSocketError?, _ bytes: ByteBuffer) {
        var undecoded = ByteBuffer()
        undecoded.writeImmutableBuffer(bytes)  // a copy, because the event loop reuses the buffer
        let extras = self.makeExtras()
        extras.eventLoop = self.hot.context?.eventLoop ?? extras.eventLoop
        extras.held = WebSocketHeldFrames(frames: frames, failure: failure, undecoded: undecoded)
        self.hot.isHolding = true
        self.set(.held, true)
        if self.queueIsAboveMark, !self.buffers.turn.isFull {
            extras.queueAtLastCheck = self.queuedBytes
            self.set(.output, true)
        } else {
            self.resumeLater()
        }
    }

    /// Holds further bytes: the bytes of another TLS record, or of the read before the transport
    /// ends.
    func hold(_ bytes: ByteBuffer) {
        _ = self.extras?.held?.undecoded.writeImmutableBuffer(bytes)
    }

    func dropHeldFrames() {
        guard self.hot.isHolding else { return }
        self.hot.isHolding = false
        self.extras?.held = nil
        self.set([.held, .output], false)
        self.countUnfinished()
    }

    // MARK: Resuming

    /// Resumes the held frames in a later turn, unless reading is also paused for another reason.
    func resumeLater() {
        guard self.hot.isHolding, !self.isDeferred, self.hasEnded || self.readPauses == .held, let eventLoop = self.extras?.eventLoop
        else { return }
        self.isDeferred = true
        self.buffers.turn.deferWork(self, isLight: !self.hot.sendsMuch, on: eventLoop)
    }

    /// Updates the budget after a change of the queue, and resumes held frames if the queue is
    /// short enough.
    func queueChanged() {
        self.countQueue()
        guard self.readPauses.contains(.output), self.hot.isWritable, self.outboundBytes <= self.buffers.queueLowMark else { return }
        self.set(.output, false)
        self.resumeLater()
    }

    /// Whether the queue has shrunk since the last call. `false` unless the length of the queue
    /// pauses the handling of the peer's messages.
    package var isDraining: Bool {
        guard self.readPauses.contains(.output), let extras else { return false }
        let queued = self.queuedBytes
        defer { extras.queueAtLastCheck = queued }
        return queued < extras.queueAtLastCheck
    }
}

extension WebSocketHandler: EventLoopWorker {
    package func resumeWork() {
        self.isDeferred = false
        guard let delegate = self.hot.delegate, let held = self.extras?.held, self.hasEnded || self.readPauses == .held else { return }
        self.hot.isHolding = false
        self.extras?.held = nil
        self.hot.isReading = true
        self.work(through: held, telling: delegate)
        self.completeRead()
        if self.hasEnded {
            if !self.hot.isHolding { self.transportEnded(cause: nil) }
        } else if !self.hot.isHolding {
            self.set(.held, false)
        }
    }
}

// MARK: Budgets

extension WebSocketHandler {
    /// Counts the incomplete and held bytes after a read.
    func countUnfinished() {
        let bytes = self.hot.endpoint.machine.unfinishedBytes + (self.hot.isHolding ? self.extras?.held?.byteCount ?? 0 : 0)
        guard bytes >= ByteAccount.grain || self.extras?.unfinished.isEmpty == false, let budgets = self.buffers.budgets else { return }
        self.makeExtras().unfinished.set(bytes, in: budgets.unfinished, for: self) { self.closer }
    }

    /// Counts the bytes queued for a slow peer.
    private func countQueue() {
        let bytes = self.hot.isWritable || self.hot.context == nil ? 0 : self.queuedBytes
        guard bytes >= ByteAccount.grain || self.extras?.queued.isEmpty == false, let budgets = self.buffers.budgets else { return }
        self.makeExtras().queued.set(bytes, in: budgets.queued, for: self) { self.closer }
    }

    /// Removes all bytes of the connection from the budgets when the transport has closed.
    func releaseBudgets() {
        guard let extras, let budgets = self.buffers.budgets else { return }
        extras.unfinished.set(0, in: budgets.unfinished, for: self) { {} }
        extras.queued.set(0, in: budgets.queued, for: self) { {} }
    }

    /// A closure that aborts the connection. The budget calls it if the budget is exceeded and this
    /// connection uses the most bytes.
    private var closer: @Sendable () -> Void {
        guard let eventLoop = self.hot.context?.eventLoop else { return {} }
        let handler = NIOLoopBound(self, eventLoop: eventLoop)
        return {
            eventLoop.execute {
                handler.value.abort(
                    WebSocketError(
                        .queueFull,
                        message:
                            "`maximumTotalQueuedBytes` or `maximumUnfinishedBytes` of the server is exceeded, and the queues of this connection are the largest"
                    ))
            }
        }
    }
}
