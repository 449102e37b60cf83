import ApusChatCore
import ApusChatProtocol

extension ChatEngine {
    /// The maximum time until the clock is read again, in milliseconds. The user can change the
    /// clock.
    private static let maximumDelay: Int64 = 3_600_000

    /// Schedules the removal of expired messages, unless it is already scheduled for an earlier
    /// time.
    func planExpiry(at time: Int64?) {
        guard let time, self.state != .closed, time < self.plannedExpiry ?? .max else { return }
        self.plannedExpiry = time
        let now = self.store.now()
        let delay = time > now ? min(time - now, Self.maximumDelay) : 0
        self.start {
            guard (try? await self.environment.sleep(.milliseconds(delay))) != nil else { return }
            await self.expire(plannedAt: time)
        }
    }

    private func expire(plannedAt time: Int64) {
        // A later call has scheduled another time.
        guard self.plannedExpiry == time else { return }
        self.plannedExpiry = nil
        let now = self.store.now()
        if time <= now { self.carryOut(self.core.expire(at: now)) }
        self.planNextExpiry()
    }

    /// Stores the server's time, by which messages expire.
    func take(serverTime time: Int64) {
        self.store.setServerTime(time)
        self.plannedExpiry = nil
        self.planNextExpiry()
    }

    private func planNextExpiry() {
        let stored = self.storing { () throws(ChatClientError) in try self.store.nextExpiry() }
        let next = [stored.flatMap { $0 }, self.core.nextPreviewExpiry].compactMap { $0 }.min()
        self.planExpiry(at: next)
    }
}
