import ApusConnectivity
import NIOCore

/// What hardly a WebSocket needs before its end. In an object of its own, made with the first need: an idle connection is to be small.
extension WebSocketHandler {
    final class Extras {
        var waitingPong: ByteBuffer?
        var closeTimer: Scheduled<Void>?
        var receivedCloseReason = ""
        var deferred: [DeferredSend] = []
        var deferredBytes = 0
        /// Frames that were read and wait.
        var held: WebSocketHeldFrames?
        /// Where held frames are resumed, also when the transport has gone.
        var eventLoop: (any EventLoop)?
        /// What was queued when the peer's messages began to wait because of it, or when that was last looked at.
        var queueAtLastLook = 0
        var unfinished = ByteAccount()
        var queued = ByteAccount()
    }

    func makeExtras() -> Extras {
        if let extras { return extras }
        let made = Extras()
        self.extras = made
        return made
    }

    /// While the peer does not read, only its last Ping waits for an answer (RFC 6455 5.5.3).
    var waitingPong: ByteBuffer? {
        get { self.extras?.waitingPong }
        set { self.change(newValue == nil) { $0.waitingPong = newValue } }
    }

    var closeTimer: Scheduled<Void>? {
        get { self.extras?.closeTimer }
        set { self.change(newValue == nil) { $0.closeTimer = newValue } }
    }

    /// The reason in the peer's Close frame, empty before it came.
    package internal(set) var receivedCloseReason: String {
        get { self.extras?.receivedCloseReason ?? "" }
        set { self.change(newValue.isEmpty) { $0.receivedCloseReason = newValue } }
    }

    /// What was sent while a message in pieces was under way.
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
