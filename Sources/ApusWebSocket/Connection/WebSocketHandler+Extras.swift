import ApusConnectivity
import NIOCore

/// State that most connections need only at their end, if ever. In a separate object, created on
/// first use, to keep idle connections small.
extension WebSocketHandler {
    final class Extras {
        var waitingPong: ByteBuffer?
        var closeTimer: Scheduled<Void>?
        var receivedCloseReason = ""
        var deferred: [DeferredSend] = []
        var deferredBytes = 0
        /// Frames that were read but not yet handled.
        var held: WebSocketHeldFrames?
        /// The loop on which held frames are resumed, also after the transport has closed.
        var eventLoop: (any EventLoop)?
        /// The number of queued bytes when the peer's messages began to wait because of them, or at
        /// the last check.
        var queueAtLastCheck = 0
        var unfinished = ByteAccount()
        var queued = ByteAccount()
    }

    func makeExtras() -> Extras {
        if let extras { return extras }
        let made = Extras()
        self.extras = made
        return made
    }

    /// The payload of the last unanswered Ping. While the peer does not read, only that one is
    /// answered (RFC 6455 5.5.3).
    var waitingPong: ByteBuffer? {
        get { self.extras?.waitingPong }
        set { self.change(newValue == nil) { $0.waitingPong = newValue } }
    }

    var closeTimer: Scheduled<Void>? {
        get { self.extras?.closeTimer }
        set { self.change(newValue == nil) { $0.closeTimer = newValue } }
    }

    /// The reason in the peer's Close frame; empty before it is received.
    package internal(set) var receivedCloseReason: String {
        get { self.extras?.receivedCloseReason ?? "" }
        set { self.change(newValue.isEmpty) { $0.receivedCloseReason = newValue } }
    }

    /// Messages sent while a fragmented message is being sent.
    var deferred: [DeferredSend] {
        get { self.extras?.deferred ?? [] }
        set { self.change(newValue.isEmpty) { $0.deferred = newValue } }
    }

    var deferredBytes: Int {
        get { self.extras?.deferredBytes ?? 0 }
        set { self.change(newValue == 0) { $0.deferredBytes = newValue } }
    }

    private func change(_ isDefault: Bool, _ body: (Extras) -> Void) {
        if let extras {
            body(extras)
        } else if !isDefault {
            body(self.makeExtras())
        }
    }
}

@available(*, unavailable)
extension WebSocketHandler.Extras: Sendable {}
