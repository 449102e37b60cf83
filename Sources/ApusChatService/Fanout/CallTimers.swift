import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import NIOCore

/// Ends calls that ring for too long.
///
/// Confined to an event loop.
final class CallTimers {
    private let eventLoop: any EventLoop
    private let ringTime: Duration
    private var ringing: [EventAddress: Scheduled<Void>] = [:]
    var onTimeout: @Sendable (EventAddress) -> Void = { _ in }

    init(on eventLoop: any EventLoop, ringTime: Duration) {
        self.eventLoop = eventLoop
        self.ringTime = ringTime
    }

    func committed(_ batch: DecidedBatch) {
        for event in batch.changes.events {
            switch event.kind.code {
            case .call: self.start(event.address)
            // Any change of a call ends its ring.
            case .callUpdate: self.ringing.removeValue(forKey: EventAddress(event.conversation, event.ref))?.cancel()
            default: break
            }
        }
    }

    /// Forgets all calls, and what ends them.
    func close() {
        for timer in self.ringing.values { timer.cancel() }
        self.ringing = [:]
        self.onTimeout = { _ in }
    }

    private func start(_ call: EventAddress) {
        self.ringing[call] = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(self.ringTime)) { [weak self] in
            guard let self, self.ringing.removeValue(forKey: call) != nil else { return }
            self.onTimeout(call)
        }
    }
}
