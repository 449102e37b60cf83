import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusEventLoop
import Logging
import NIOCore

/// Performs the actions of a ``CallRoomWatch`` on the media server of the operator.
///
/// Confined to an event loop.
final class CallRooms {
    private let eventLoop: any EventLoop
    private let backend: any CallBackend
    private let logger: Logger
    private var watch = CallRoomWatch()
    private var timers: [EventAddress: Scheduled<Void>] = [:]
    private let interval: Duration
    /// Ends a call on behalf of the server.
    var end: @Sendable (EventAddress) -> Void = { _ in }

    /// - Parameter interval: The time between two counts of the participants of a room.
    init(on eventLoop: any EventLoop, _ backend: any CallBackend, interval: Duration = CallRoomWatch.interval, logger: Logger) {
        self.eventLoop = eventLoop
        self.backend = backend
        self.interval = interval
        self.logger = logger
    }

    func committed(_ batch: DecidedBatch) {
        guard !batch.calls.isEmpty || (!batch.deleted.isEmpty && self.watch.count > 0) else { return }
        self.carryOut(self.watch.committed(batch.calls, deleted: batch.deleted))
    }

    /// Stops all timers. The rooms remain until the media server removes them.
    func close() {
        for timer in self.timers.values { timer.cancel() }
        self.timers = [:]
        self.end = { _ in }
    }

    private func carryOut(_ actions: [CallRoomWatch.Action]) {
        for action in actions {
            switch action {
            case .open(let call): self.run("create", call) { try await $0.open($1) }
            case .close(let call): self.run("delete", call) { try await $0.close($1) }
            case .startTimer(let call):
                self.timers[call]?.cancel()
                self.timers[call] = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(self.interval)) { [weak self] in
                    guard let self else { return }
                    self.timers[call] = nil
                    self.carryOut(self.watch.timerFired(call))
                }
            case .cancelTimer(let call): self.timers.removeValue(forKey: call)?.cancel()
            case .count(let call): self.count(call)
            case .end(let call): self.end(call)
            }
        }
    }

    private func count(_ call: EventAddress) {
        let rooms = WeakLoopBound(self, on: self.eventLoop)
        let (backend, logger) = (self.backend, self.logger)
        Task {
            var count: Int?
            do { count = try await backend.participants(of: CallRoom(call)) } catch {
                logger.warning("The participants of a room could not be counted", metadata: ["error": "\(error)"])
            }
            rooms.onLoop { [count] rooms in rooms.carryOut(rooms.watch.counted(call, count)) }
        }
    }

    private func run(
        _ change: String, _ call: EventAddress, _ body: @escaping @Sendable (any CallBackend, CallRoom) async throws -> Void
    ) {
        let (backend, logger) = (self.backend, self.logger)
        Task {
            do { try await body(backend, CallRoom(call)) } catch {
                logger.warning("A room of a call could not be changed", metadata: ["change": "\(change)", "error": "\(error)"])
            }
        }
    }
}
