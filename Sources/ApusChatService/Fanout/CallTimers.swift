import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusEventLoop
import NIOCore

/// Runs the timers of calls, and reports the calls that they end.
///
/// Confined to an event loop.
final class CallTimers {
    private let eventLoop: any EventLoop
    private var watch: CallWatch
    private var timers: [EventAddress: Scheduled<Void>] = [:]
    /// Reports the state of a call on behalf of the server. Calls the completion once, on any
    /// thread.
    var report: @Sendable (EventAddress, CallState, @escaping @Sendable (Result<StoredAnswer, ChatError>) -> Void) -> Void = { _, _, _ in }

    init(on eventLoop: any EventLoop, _ watch: CallWatch) {
        self.eventLoop = eventLoop
        self.watch = watch
    }

    func committed(_ batch: DecidedBatch) {
        guard !batch.calls.isEmpty || (!batch.deleted.isEmpty && self.watch.count > 0) else { return }
        self.carryOut(self.watch.committed(batch.calls, deleted: batch.deleted, at: self.now))
    }

    func signalled(_ call: EventAddress, by requester: Requester) {
        self.carryOut(self.watch.signalled(call, by: CallChange.Party(requester.user, requester.device), at: self.now))
    }

    func connected(_ device: DeviceKey) { self.carryOut(self.watch.connected(device, at: self.now)) }
    func disconnected(_ device: DeviceKey) { self.carryOut(self.watch.disconnected(device, at: self.now)) }
    func devices(of call: EventAddress) -> Set<DeviceKey> { self.watch.devices(of: call) }
    func resume(_ calls: [EventAddress]) { self.carryOut(self.watch.resume(calls, at: self.now)) }

    /// Stops all timers. No further states are reported.
    func close() {
        for timer in self.timers.values { timer.cancel() }
        self.timers = [:]
        self.report = { _, _, _ in }
    }

    /// The time of the event loop's clock, in milliseconds.
    private var now: Int64 { Int64(self.eventLoop.now.uptimeNanoseconds / 1_000_000) }

    private func carryOut(_ actions: [CallWatch.Action]) {
        for action in actions {
            switch action {
            case .startTimer(let call, let time):
                self.timers[call]?.cancel()
                self.timers[call] = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { [weak self] in
                    guard let self else { return }
                    self.timers[call] = nil
                    self.carryOut(self.watch.timerFired(call, at: self.now))
                }
            case .cancelTimer(let call): self.timers.removeValue(forKey: call)?.cancel()
            case .report(let call, let state):
                let timers = WeakLoopBound(self, on: self.eventLoop)
                self.report(call, state) { result in timers.onLoop { $0.reported(call, state, result) } }
            }
        }
    }

    private func reported(_ call: EventAddress, _ state: CallState, _ result: Result<StoredAnswer, ChatError>) {
        let outcome: CallWatch.Outcome =
            switch result {
            case .success(let answer): answer.seq > 0 ? .done : .unchanged
            case .failure(let error): error.code.isTemporary ? .failed : .done
            }
        self.carryOut(self.watch.reported(call, state, outcome, at: self.now))
    }
}
